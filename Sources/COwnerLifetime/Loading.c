#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE // dladdr
#endif

#include "COwnerLifetime.h"

#if defined(__ELF__) && !defined(__wasm__)

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>

// Addresses in libraries that stay, by a part of each, because the loader takes a microsecond.
static _Atomic(uintptr_t) kept[64];

void tether_keep_loaded(const void *address) {
    _Atomic(uintptr_t) *slot = &kept[((uintptr_t)address >> 4) % 64];
    if (atomic_load_explicit(slot, memory_order_relaxed) == (uintptr_t)address) return;
    Dl_info library;
    if (!dladdr(address, &library) || !library.dli_fname) return;
    void *handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (handle) {
        dlclose(handle);
    } else {
        // The program itself is not opened, and stays anyway; nobody is to find that error.
        dlerror();
    }
    atomic_store_explicit(slot, (uintptr_t)address, memory_order_relaxed);
}

// Hooks in classes and destructors of threads lead into the library that this is linked into.
__attribute__((constructor)) static void keep_this_loaded(void) { tether_keep_loaded(&keep_this_loaded); }

#else

void tether_keep_loaded(const void *address) { (void)address; }

#endif
