/// The few lines under `OwnerLifetime` and `PostingThread` that Swift cannot say: a function with Swift's
/// calling convention in a class's metadata, the runtime's unowned references, and a thread-local slot.
#ifndef TETHER_C_OWNER_LIFETIME_H
#define TETHER_C_OWNER_LIFETIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

// Two libraries of a process may each have a copy of this, with another state.
#pragma GCC visibility push(hidden)

// MARK: The deallocator hook

/// Called before the deallocating function of an object with unowned references. What it returns is passed to
/// `tether_did_end` after that function has returned; `NULL` asks for no such call.
typedef void *_Nullable (*tether_will_end)(void *_Nonnull object);

/// Called after the deallocating function of such an object.
typedef void (*tether_did_end)(void *_Nonnull context);

/// Sets what the hook calls. May be set again; a call under way may still use the previous ones.
void tether_hook_set_callbacks(tether_will_end _Nonnull will_end, tether_did_end _Nonnull did_end);

/// Puts the hook into a class's metadata, for good. The caller holds a lock that makes this exclusive.
/// Returns false where it cannot be written, or where the metadata is not a class's.
bool tether_hook_install(void *_Nonnull metadata);

/// Whether the hook is in a class's metadata; takes no lock. False also where another one has been put over it.
bool tether_hook_is_installed(const void *_Nonnull metadata);

// MARK: Unowned references (the Swift runtime's)

void tether_unowned_retain(void *_Nonnull object);
void tether_unowned_release(void *_Nonnull object);
size_t tether_unowned_count(void *_Nonnull object);
size_t tether_strong_count(void *_Nonnull object);

/// Whether the object's last strong reference has gone. Its memory is held by any reference.
bool tether_has_ended(void *_Nonnull object);

/// Retains an object that may be gone by now, or returns false. Its memory is held by an unowned reference.
static inline bool tether_try_retain(void *_Nonnull object) {
    extern void *_Nullable swift_tryRetain(void *_Nonnull) __attribute__((visibility("default")));
    return swift_tryRetain(object) != NULL;
}

// MARK: A slot for each thread

extern _Thread_local void *_Nullable tether_current_record;

/// The calling thread's record, or `NULL`.
static inline void *_Nullable tether_thread_record(void) { return tether_current_record; }

/// The ranks of the locks that the calling thread has, as the checks of debug builds know them.
extern _Thread_local uint32_t tether_lock_ranks;
static inline uint32_t tether_held_lock_ranks(void) { return tether_lock_ranks; }
static inline void tether_set_held_lock_ranks(uint32_t ranks) { tether_lock_ranks = ranks; }

/// Sets the calling thread's record; `on_exit` is called with it, on this thread, when the thread exits.
void tether_set_thread_record(void *_Nonnull record, void (*_Nonnull on_exit)(void *_Nonnull record));

/// Whether the calling thread's destructors have begun, so that what is set now may stay.
bool tether_thread_is_exiting(void);

/// Does with the calling thread's record what its exit would do, if it has one.
void tether_end_thread_record(void);

/// Gives the calling thread a name, as much of it as the system takes.
void tether_name_thread(const char *_Nonnull name);

// MARK: What posting threads look at

/// How many wait for handlers to return; and 1 more where posting threads fence what they announce, which is found out
/// before the program's first line.
extern long tether_attention;

/// Whether a posting thread must do more than store what it announces.
///
/// Its order is half of a handshake: who waits counts itself in and then looks at what is announced. On ARM64 this load
/// stays behind the store that announces, and that is all. On x86 it may pass that store, for nothing: there who waits
/// fences all threads (`membarrier`); where it cannot, this is always true, and the posting thread fences.
static inline bool tether_needs_attention(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return __builtin_expect(__atomic_load_n(&tether_attention, __ATOMIC_SEQ_CST) != 0, 0);
}

/// Whether anyone waits for a registration's handlers; true, too, where too many wait to tell.
bool tether_is_waited_for(uintptr_t registration);

/// Counts one who waits in; sequentially consistent. The caller holds a lock that makes this exclusive.
/// Returns what `tether_end_waiting` takes.
int tether_begin_waiting(uintptr_t registration);
void tether_end_waiting(int place);

/// Whether posting threads have to fence what they announce.
bool tether_posters_fence(void);

/// A full memory fence on this thread, and on every thread of this process unless posting threads need none, or fence by
/// themselves. False if the system refuses, which it did not at the program's start.
bool tether_fence_all_threads(void);

/// Tries the system's fence for all threads; true if it worked.
bool tether_prove_fence(void);

// MARK: A trace

/// The system's number of the calling thread.
uint64_t tether_thread_number(void);

/// The name of the calling thread; empty if it has none.
void tether_thread_name(char name[_Nonnull 64]);

#pragma GCC visibility pop

#if defined(__cplusplus)
}
#endif

#endif
