/// Tether's part of the Objective-C runtime, over Swift objects, so that code for Apple platforms
/// runs on Linux. `ObjectiveC.swift` declares the functions with Apple's names.
#ifndef TETHER_OBJECTIVE_C_RUNTIME_H
#define TETHER_OBJECTIVE_C_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

/// A method's name, which stays.
struct runtime_selector {
    const char *_Nonnull name;
};

/// Registers a name for methods. The runtime copies the string.
struct runtime_selector runtime_register_name(const char *_Nonnull name);

typedef void (*runtime_method)(void);

/// The implementation of a method of every class, or `NULL` for a method that is not simulated.
runtime_method _Nullable runtime_find_method(struct runtime_selector selector);

/// Associates a value with an object, and releases the old value. `policy` has libobjc's bits.
void runtime_associate(void *_Nonnull object, const void *_Nonnull key, void *_Nullable value, uintptr_t policy);

/// The associated value. An atomic policy adds a reference to the thread's pool.
void *_Nullable runtime_associated(void *_Nonnull object, const void *_Nonnull key);

/// How many objects have associated values.
long runtime_association_count(void);

/// Begins a pool of the calling thread; ends it, with all pools begun later, and releases their
/// objects.
long runtime_push_pool(void);
void runtime_pop_pool(long pool);

#endif
