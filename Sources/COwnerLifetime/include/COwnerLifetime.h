/// The C parts of `OwnerLifetime` and `ThreadRecord`, which Swift cannot express: a function with
/// Swift's calling convention in a class's metadata, the runtime's unowned references, and a
/// thread-local slot.
#ifndef TETHER_C_OWNER_LIFETIME_H
#define TETHER_C_OWNER_LIFETIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

// Two libraries of a process may each have a copy of this library, with separate state.
#pragma GCC visibility push(hidden)

// MARK: The deallocator hook

/// Called before the deallocating function of an object with unowned references. The result is
/// passed to `tether_did_end` after the function has returned; after `NULL`, `tether_did_end` is
/// not called.
typedef void *_Nullable (*tether_will_end)(void *_Nonnull object);
typedef void (*tether_did_end)(void *_Nonnull context);

/// Sets the hook's callbacks. May be called again; a call under way may still use the previous
/// callbacks.
void tether_hook_set_callbacks(tether_will_end _Nonnull will_end, tether_did_end _Nonnull did_end);

/// Installs the hook in a class's metadata, for good. The caller holds a lock, so installations are
/// exclusive. Returns false if the word cannot be written, or if the metadata is not a class's.
bool tether_hook_install(void *_Nonnull metadata);

/// Whether a class's metadata has the hook; takes no lock. Also false after another copy has
/// replaced the hook.
bool tether_hook_is_installed(const void *_Nonnull metadata);

// MARK: Unowned references (the Swift runtime's)

// Stable ABI (stdlib/public/SwiftShims and Runtime/HeapObject.h).
#pragma GCC visibility push(default)
extern void *_Nullable swift_tryRetain(void *_Nonnull object);
extern bool swift_isDeallocating(void *_Nonnull object);
extern size_t swift_retainCount(void *_Nonnull object);
extern size_t swift_unownedRetainCount(void *_Nonnull object);
#if defined(__APPLE__)
extern signed long CFGetRetainCount(const void *object);
#endif
#pragma GCC visibility pop

// Any reference, such as an unowned one, keeps the object's memory.

/// Whether the object's last strong reference was released.
static inline bool tether_has_ended(void *_Nonnull object) { return swift_isDeallocating(object); }
static inline bool tether_try_retain(void *_Nonnull object) { return swift_tryRetain(object) != NULL; }
static inline size_t tether_strong_count(void *_Nonnull object) {
#if defined(__APPLE__)
    // The object may be Objective-C's, whose count is elsewhere: Swift's function would read a
    // stored property.
    return (size_t)CFGetRetainCount(object);
#else
    return swift_retainCount(object);
#endif
}
static inline size_t tether_unowned_count(void *_Nonnull object) { return swift_unownedRetainCount(object); }

// MARK: Other threads

/// Calls `work` with `context` on a queue of libdispatch, without a block of C's.
void tether_async(void *_Nonnull queue, void *_Nonnull context, void (*_Nonnull work)(void *_Nonnull context));

/// Takes a lock, which is 1 while a thread has it. Returns false if it is taken.
///
/// These two are never inline, `pure` or `const`: the compiler would move the retain of a value that was
/// read under the lock past a store that it sees.
__attribute__((noinline)) bool tether_try_lock(uint8_t *_Nonnull lock);
__attribute__((noinline)) void tether_unlock(uint8_t *_Nonnull lock);
static inline bool tether_is_locked(const uint8_t *_Nonnull lock) { return __atomic_load_n(lock, __ATOMIC_RELAXED); }

/// Tells the processor that the calling thread tries again soon.
static inline void tether_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    // Not `yield`, which takes one cycle.
    __asm__ volatile("isb");
#endif
}

// MARK: A slot for each thread

extern _Thread_local void *_Nullable tether_current_record;
static inline void *_Nullable tether_thread_record(void) { return tether_current_record; }

/// The ranks of the calling thread's locks, for the checks of debug builds.
extern _Thread_local uint32_t tether_lock_ranks;
static inline uint32_t tether_held_lock_ranks(void) { return tether_lock_ranks; }
static inline void tether_set_held_lock_ranks(uint32_t ranks) { tether_lock_ranks = ranks; }

/// Sets the calling thread's record. When the thread exits, the thread calls `on_exit` with the
/// record.
void tether_set_thread_record(void *_Nonnull record, void (*_Nonnull on_exit)(void *_Nonnull record));

/// Whether a record of the calling thread has ended, as at the thread's exit. A record set from
/// then on may stay.
bool tether_thread_is_exiting(void);
bool tether_is_main_thread(void);

/// Ends the calling thread's record, if there is one, as the thread's exit would.
void tether_end_thread_record(void);

/// Names the calling thread, with as much of the name as the system takes.
void tether_name_thread(const char *_Nonnull name);

/// The size of the longest name of a thread, with the zero at its end.
#define TETHER_THREAD_NAME_SIZE 64

/// Copies the system's name of the calling thread, "" without one. No code of the program is
/// called, as `Thread.name` of a subclass would be.
void tether_copy_thread_name(char *_Nonnull name);
uint64_t tether_thread_number(void);

// MARK: The environment

/// A variable of the environment. Always `NULL` in a program that was started with more rights than
/// its user has, such as a set-user-ID program.
const char *_Nullable tether_environment_variable(const char *_Nonnull name);

// MARK: The word that posting threads read

/// A bit for each registration whose handlers a thread waits for; several registrations may share a
/// bit. Without waiters, all bits are cleared. `TETHER_POSTERS_FENCE` is set where posting threads
/// must fence their hazard pointers, which is known before the program's first line.
extern uintptr_t tether_awaited;

#define TETHER_POSTERS_FENCE ((uintptr_t)1)

/// Whether a posting thread must do more than store its hazard pointer.
///
/// A posting thread stores its hazard pointer, then loads this word. A waiter sets a bit, then
/// loads the hazard pointers. On ARM64 the load stays behind the store. On x86 the load may pass
/// the store, so the waiter fences all threads (`membarrier`), or, without that fence, the result
/// is always true and the posting thread fences.
static inline bool tether_needs_attention(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return __builtin_expect(__atomic_load_n(&tether_awaited, __ATOMIC_SEQ_CST) != 0, 0);
}

static inline bool tether_posters_fence(void) {
    return __atomic_load_n(&tether_awaited, __ATOMIC_RELAXED) & TETHER_POSTERS_FENCE;
}

/// A registration's bit, never the lowest; 0 for no registration.
static inline uintptr_t tether_awaited_bit(uintptr_t registration) {
#if defined(TETHER_INTERLEAVING)
    // The same for each address, so that a seed has the same points in each process.
    return registration ? 2 : 0;
#endif
    uint64_t hash = (uint64_t)registration * 0x9E3779B97F4A7C15u >> 32;
    return registration ? (uintptr_t)1 << (1 + hash % (sizeof(uintptr_t) * 8 - 1)) : 0;
}

/// Whether a thread may wait for a registration's handlers.
static inline bool tether_is_awaited(uintptr_t registration) {
    return __atomic_load_n(&tether_awaited, __ATOMIC_SEQ_CST) & tether_awaited_bit(registration);
}

/// Begins a wait; sequentially consistent.
static inline void tether_begin_awaiting(uintptr_t registration) {
    __atomic_fetch_or(&tether_awaited, tether_awaited_bit(registration), __ATOMIC_SEQ_CST);
}

static inline void tether_end_awaiting(void) {
    __atomic_fetch_and(&tether_awaited, TETHER_POSTERS_FENCE, __ATOMIC_SEQ_CST);
}

/// A full memory fence on this thread, and on every thread of this process unless posting threads
/// need none or fence themselves. False if the system refuses a fence which it allowed at the
/// program's start.
bool tether_fence_all_threads(void);

/// Tries the system's fence of all threads; true if the fence worked.
bool tether_prove_fence(void);

#pragma GCC visibility pop

#if defined(__cplusplus)
}
#endif

#endif
