#include "COwnerLifetime.h"

#include <stdatomic.h>
#include <stdlib.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__APPLE__)

// Apple platforms have associated objects; see OwnerLifetime+ObjectiveC.swift.
void tether_hook_set_callbacks(tether_will_end will_end, tether_did_end did_end) { (void)will_end; (void)did_end; }
bool tether_hook_install(void *metadata) { (void)metadata; return false; }
bool tether_hook_is_installed(const void *metadata) { (void)metadata; return false; }
void tether_hook_mark(const void *object) { (void)object; }
void tether_hook_unmark(const void *object) { (void)object; }

#else

typedef __attribute__((swiftcall)) void (*destroy_function)(__attribute__((swift_context)) void *object);

static _Atomic(tether_will_end) will_end_callback;
static _Atomic(tether_did_end) did_end_callback;

void tether_hook_set_callbacks(tether_will_end will_end, tether_did_end did_end) {
    atomic_store_explicit(&did_end_callback, did_end, memory_order_release);
    atomic_store_explicit(&will_end_callback, will_end, memory_order_release);
}

// The filter: a saturating count for each hash of an address. A false hit costs a look-up, a miss is exact.
// Untouched pages of it take no memory.
#define FILTER_BITS 20
static _Atomic(uint8_t) filter[1 << FILTER_BITS];

static inline size_t hash(const void *address, unsigned bits) {
    return (size_t)(((uint64_t)(uintptr_t)address * 0x9E3779B97F4A7C15u) >> (64 - bits));
}

void tether_hook_mark(const void *object) {
    _Atomic(uint8_t) *count = &filter[hash(object, FILTER_BITS)];
    uint8_t seen = atomic_load_explicit(count, memory_order_relaxed);
    while (seen != UINT8_MAX &&
           !atomic_compare_exchange_weak_explicit(count, &seen, seen + 1, memory_order_relaxed, memory_order_relaxed)) {}
}

void tether_hook_unmark(const void *object) {
    _Atomic(uint8_t) *count = &filter[hash(object, FILTER_BITS)];
    uint8_t seen = atomic_load_explicit(count, memory_order_relaxed);
    while (seen != UINT8_MAX &&
           !atomic_compare_exchange_weak_explicit(count, &seen, seen - 1, memory_order_relaxed, memory_order_relaxed)) {}
}

// The original deallocating function of each hooked class: open addressing, read without a lock. A table that
// is outgrown stays for the readers that may be in it; all the outgrown ones together are smaller than the last.
typedef struct {
    _Atomic(const void *) metadata;
    destroy_function original;
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
        const void *found = atomic_load_explicit(&table->classes[i].metadata, memory_order_acquire);
        if (found == metadata || found == NULL) return &table->classes[i];
    }
}

static bool remember(const void *metadata, destroy_function original) {
    class_table *table = atomic_load_explicit(&hooked, memory_order_relaxed);
    if (!table || (table->count + 1) * 2 > ((size_t)1 << table->bits)) {
        unsigned bits = table ? table->bits + 1 : 6;
        class_table *larger = calloc(1, sizeof(class_table) + (sizeof(hooked_class) << bits));
        if (!larger) return false;
        larger->bits = bits;
        larger->outgrown = table;
        for (size_t i = 0; table && i < ((size_t)1 << table->bits); i++) {
            const void *known = atomic_load_explicit(&table->classes[i].metadata, memory_order_relaxed);
            if (!known) continue;
            hooked_class *slot = find(larger, known);
            slot->original = table->classes[i].original;
            atomic_store_explicit(&slot->metadata, known, memory_order_relaxed);
            larger->count++;
        }
        atomic_store_explicit(&hooked, larger, memory_order_release);
        table = larger;
    }
    hooked_class *slot = find(table, metadata);
    if (atomic_load_explicit(&slot->metadata, memory_order_relaxed)) return true;
    slot->original = original;
    atomic_store_explicit(&slot->metadata, metadata, memory_order_release);
    table->count++;
    return true;
}

static __attribute__((swiftcall)) void hook(__attribute__((swift_context)) void *object) {
    const void *metadata = *(const void **)object;
    destroy_function original = NULL;
    // The runtime reads the word that led here without an order, so the class may not be seen in the table at first.
    while (!original) {
        hooked_class *known = find(atomic_load_explicit(&hooked, memory_order_acquire), metadata);
        if (atomic_load_explicit(&known->metadata, memory_order_acquire)) original = known->original;
    }
    if (atomic_load_explicit(&filter[hash(object, FILTER_BITS)], memory_order_relaxed) == 0) {
        original(object);
        return;
    }
    void *context = atomic_load_explicit(&will_end_callback, memory_order_acquire)(object);
    if (!context) {
        original(object);
        return;
    }
    size_t unowned_before = tether_unowned_count(object);
    original(object);
    atomic_load_explicit(&did_end_callback, memory_order_acquire)(context, object, unowned_before);
}

// Whether a word can be written, found by letting the kernel copy the byte that is there onto itself: it
// answers with an error where a store would end the process.
static bool is_writable(void *word) {
#if defined(__linux__)
    int ends[2];
    if (pipe(ends) != 0) return false;
    char byte = *(volatile char *)word;
    bool copied = write(ends[1], &byte, 1) == 1 && syscall(SYS_read, ends[0], word, (size_t)1) == 1;
    close(ends[0]);
    close(ends[1]);
    return copied;
#else
    (void)word;
    return false;
#endif
}

// A class's metadata begins with kind 0 where there is no Objective-C; its deallocating function stands two words
// before the address point. Both are ABI (HeapMetadata).
static _Atomic(destroy_function) *destroy_word(const void *metadata) {
    return *(const uintptr_t *)metadata == 0 ? (_Atomic(destroy_function) *)metadata - 2 : NULL;
}

bool tether_hook_is_installed(const void *metadata) {
    _Atomic(destroy_function) *destroy = destroy_word(metadata);
    return destroy && atomic_load_explicit(destroy, memory_order_acquire) == hook;
}

bool tether_hook_install(void *metadata) {
    _Atomic(destroy_function) *destroy = destroy_word(metadata);
    if (!destroy) return false;
    destroy_function original = atomic_load_explicit(destroy, memory_order_relaxed);
    if (original == hook) return true;
    if (!original || !is_writable((void *)destroy) || !remember(metadata, original)) return false;
    atomic_store_explicit(destroy, hook, memory_order_release);
    return true;
}

#endif
