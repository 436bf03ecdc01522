#include "COwnerLifetime.h"

#include <stdatomic.h>
#include <stdlib.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

// Apple platforms have associated objects; see OwnerLifetime.swift.
#if !defined(__APPLE__)

typedef __attribute__((swiftcall)) void (*destroy_function)(__attribute__((swift_context)) void *object);

static _Atomic(tether_will_end) will_end_callback;
static _Atomic(tether_did_end) did_end_callback;

void tether_hook_set_callbacks(tether_will_end will_end, tether_did_end did_end) {
    atomic_store_explicit(&did_end_callback, did_end, memory_order_release);
    atomic_store_explicit(&will_end_callback, will_end, memory_order_release);
}

static inline size_t hash(const void *address, unsigned bits) {
    return (size_t)(((uint64_t)(uintptr_t)address * 0x9E3779B97F4A7C15u) >> (64 - bits));
}

// The original deallocating function of each hooked class: open addressing, read without a lock. An
// outgrown table stays for its readers; all outgrown tables together are smaller than the current
// table. A class is in the table before its metadata leads to the hook.
typedef struct {
    _Atomic(const void *) metadata;
    _Atomic(destroy_function) original;
} hooked_class;

typedef struct class_table {
    struct class_table *outgrown;
    unsigned bits;
    size_t count;
    hooked_class classes[];
} class_table;

static _Atomic(class_table *) hooked;

static hooked_class *find(class_table *table, const void *metadata) {
    size_t mask = ((size_t)1 << table->bits) - 1;
    for (size_t i = hash(metadata, table->bits);; i = (i + 1) & mask) {
        const void *found = atomic_load_explicit(&table->classes[i].metadata, memory_order_relaxed);
        if (found == metadata || found == NULL) return &table->classes[i];
    }
}

// Inserts a class; returns its slot, or NULL without memory.
static hooked_class *remember(const void *metadata, destroy_function original) {
    class_table *table = atomic_load_explicit(&hooked, memory_order_relaxed);
    if (!table || (table->count + 1) * 2 > ((size_t)1 << table->bits)) {
        unsigned bits = table ? table->bits + 1 : 6;
        class_table *larger = calloc(1, sizeof(class_table) + (sizeof(hooked_class) << bits));
        if (!larger) return NULL;
        larger->bits = bits;
        larger->outgrown = table;
        for (size_t i = 0; table && i < ((size_t)1 << table->bits); i++) {
            const void *known = atomic_load_explicit(&table->classes[i].metadata, memory_order_relaxed);
            if (!known) continue;
            hooked_class *slot = find(larger, known);
            atomic_init(&slot->original, atomic_load_explicit(&table->classes[i].original, memory_order_relaxed));
            atomic_store_explicit(&slot->metadata, known, memory_order_relaxed);
            larger->count++;
        }
        atomic_store_explicit(&hooked, larger, memory_order_release);
        table = larger;
    }
    hooked_class *slot = find(table, metadata);
    atomic_store_explicit(&slot->original, original, memory_order_relaxed);
    atomic_store_explicit(&slot->metadata, metadata, memory_order_relaxed);
    table->count++;
    return slot;
}

// The original function of a class; NULL if the table has no such class.
static destroy_function original_of(const void *metadata) {
    class_table *table = atomic_load_explicit(&hooked, memory_order_acquire);
    if (!table) return NULL;
    hooked_class *slot = find(table, metadata);
    bool is_known = atomic_load_explicit(&slot->metadata, memory_order_relaxed) == metadata;
    return is_known ? atomic_load_explicit(&slot->original, memory_order_relaxed) : NULL;
}

// Without Objective-C, the word of the deallocating function stands two words before the address
// point of a class's metadata; ABI (HeapMetadata).
static _Atomic(destroy_function) *destroy_word_of_class(const void *metadata) {
    return (_Atomic(destroy_function) *)metadata - 2;
}

// Replaces the deallocating function of each hooked class. An object that is no owner or sender has
// one unowned reference, shared by its strong references. Such an object costs a read of its counts
// and no look-up of a record.
static __attribute__((swiftcall)) void hook(__attribute__((swift_context)) void *object) {
    const void *metadata = *(const void **)object;
    // The runtime has read this word without an order. The second load finds the same hook, or
    // another copy's that calls this hook, and then everything that was stored before the word.
    (void)atomic_load_explicit(destroy_word_of_class(metadata), memory_order_acquire);
    destroy_function original = original_of(metadata);
    if (tether_unowned_count(object) <= 1) {
        original(object);
        return;
    }
    void *context = atomic_load_explicit(&will_end_callback, memory_order_acquire)(object);
    original(object);
    if (context) atomic_load_explicit(&did_end_callback, memory_order_acquire)(context);
}

// Whether a word can be written: the kernel executes "or 0" on the word in one step, and wakes no
// thread. For a read-only word the kernel returns an error, where a store would end the process. So
// does a sandbox.
static bool is_writable(void *word) {
#if defined(__linux__)
    uint32_t nobody = 0;
    int or_zero = FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0);
    return syscall(SYS_futex, &nobody, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, (void *)0, word, or_zero) >= 0;
#else
    (void)word;
    return false;
#endif
}

// NULL if the metadata is not a class's, which begins with kind 0; ABI, too.
static _Atomic(destroy_function) *destroy_word(const void *metadata) {
    return *(const uintptr_t *)metadata == 0 ? destroy_word_of_class(metadata) : NULL;
}

bool tether_hook_is_installed(const void *metadata) {
    _Atomic(destroy_function) *destroy = destroy_word(metadata);
    return destroy && atomic_load_explicit(destroy, memory_order_acquire) == hook;
}

bool tether_hook_install(void *metadata) {
    _Atomic(destroy_function) *destroy = destroy_word(metadata);
    if (!destroy) return false;
    // If the word has changed since, another copy of this library has installed its hook, which
    // calls this hook.
    if (original_of(metadata)) return true;
    destroy_function original = atomic_load_explicit(destroy, memory_order_relaxed);
    if (!original || !is_writable((void *)destroy)) return false;
    hooked_class *slot = remember(metadata, original);
    if (!slot) return false;
    // In one step, because another copy may be installing its hook at the same time. The release
    // also publishes the slot, with the last function that was found in the word.
    while (!atomic_compare_exchange_weak_explicit(destroy, &original, hook, memory_order_release, memory_order_relaxed)) {
        atomic_store_explicit(&slot->original, original, memory_order_relaxed);
    }
    return true;
}

#endif
