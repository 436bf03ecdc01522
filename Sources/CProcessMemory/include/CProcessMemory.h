/// The one system call under `TetherTesting`'s diagnoses without a Swift declaration in the Glibc
/// module.
#ifndef TETHER_C_PROCESS_MEMORY_H
#define TETHER_C_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/// Copies the readable bytes of this process's memory, and returns their number.
///
/// The kernel reports an unmapped address as an error, not as a signal.
size_t tether_read_memory(uintptr_t address, void *_Nullable buffer, size_t count);

#if defined(__cplusplus)
}
#endif

#endif
