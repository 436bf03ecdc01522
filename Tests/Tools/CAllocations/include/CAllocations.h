/// Counts calls of the allocator, for tests and benchmarks.
#ifndef TETHER_C_ALLOCATIONS_H
#define TETHER_C_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__cplusplus)
extern "C" {
#endif

/// Bytes of the heap in use, as the allocator counts them; 0 if the allocator does not count.
size_t heap_bytes_in_use(void);

/// Whether `allocations_on_this_thread` counts: not under a sanitizer, which has an allocator of
/// its own.
bool counts_allocations(void);

/// How often the calling thread has called `malloc`, `calloc`, `realloc` or an aligned form of
/// them.
size_t allocations_on_this_thread(void);

#if defined(__cplusplus)
}
#endif

#endif
