/// The one system call under `TetherTesting`'s diagnoses that Swift's Glibc module does not have.
#ifndef TETHER_C_PROCESS_MEMORY_H
#define TETHER_C_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/// Copies bytes of this process's memory, as far as they can be read, and returns how many.
///
/// An address that leads nowhere is an error to the kernel, not a signal.
size_t tether_read_memory(uintptr_t address, void *_Nullable buffer, size_t count);

#endif
