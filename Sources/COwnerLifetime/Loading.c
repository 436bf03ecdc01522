#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE // dladdr
#endif

#include "COwnerLifetime.h"

#if defined(__ELF__) && !defined(__wasm__)

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

// The ranges of libraries that stay, because asking the loader takes a microsecond. A range is there once it has an end.
typedef struct {
    uintptr_t begin;
    _Atomic(uintptr_t) end;
} range;

static range kept[128];
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static bool is_kept(uintptr_t address) {
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        uintptr_t end = atomic_load_explicit(&kept[i].end, memory_order_acquire);
        if (!end) return false;
        if (address >= kept[i].begin && address < end) return true;
    }
    return false;
}

typedef struct {
    uintptr_t address;
    /// Whether the library was found to stay; the program itself, which has no name here, stays anyway.
    bool stays;
} search;

/// Adds the range of the segment in which the address lies.
static int add_range(struct dl_phdr_info *library, size_t size, void *context) {
    (void)size;
    uintptr_t address = ((search *)context)->address;
    for (size_t i = 0; i < library->dlpi_phnum; i++) {
        uintptr_t begin = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr;
        uintptr_t end = begin + library->dlpi_phdr[i].p_memsz;
        if (library->dlpi_phdr[i].p_type != PT_LOAD || address < begin || address >= end) continue;
        if (!((search *)context)->stays && library->dlpi_name && *library->dlpi_name) return 1;
        pthread_mutex_lock(&adding);
        size_t free = 0;
        while (free < sizeof kept / sizeof *kept && atomic_load_explicit(&kept[free].end, memory_order_relaxed)) free++;
        if (free < sizeof kept / sizeof *kept && !is_kept(address)) {
            kept[free].begin = begin;
            atomic_store_explicit(&kept[free].end, end, memory_order_release);
        }
        pthread_mutex_unlock(&adding);
        return 1;
    }
    return 0;
}

void tether_keep_loaded(const void *address) {
    if (is_kept((uintptr_t)address)) return;
    Dl_info library;
    if (!dladdr(address, &library) || !library.dli_fname) return;
    void *handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (handle) {
        dlclose(handle);
    } else {
        // The program itself is not opened, and stays anyway; nobody is to find that error.
        dlerror();
    }
    search search = {(uintptr_t)address, handle != NULL};
    dl_iterate_phdr(add_range, &search);
}

// Hooks in classes and destructors of threads lead into the library that this is linked into.
__attribute__((constructor)) static void keep_this_loaded(void) { tether_keep_loaded(&keep_this_loaded); }

#else

void tether_keep_loaded(const void *address) { (void)address; }

#endif
