#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE // process_vm_readv
#endif

#include "CProcessMemory.h"

#if defined(__linux__)
#include <sys/uio.h>
#include <unistd.h>
#endif

size_t tether_read_memory(uintptr_t address, void *buffer, size_t count) {
    // The caller reads layouts with 64-bit pointers.
#if defined(__linux__) && UINTPTR_MAX > UINT32_MAX
    struct iovec local = {buffer, count};
    struct iovec remote = {(void *)address, count};
    ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    return copied < 0 ? 0 : (size_t)copied;
#else
    (void)address;
    (void)buffer;
    (void)count;
    return 0;
#endif
}
