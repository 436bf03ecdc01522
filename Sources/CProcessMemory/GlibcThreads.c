#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "MemoryIndex.h"

#if defined(__linux__) && defined(__GLIBC__) && UINTPTR_MAX > UINT32_MAX
#include <dirent.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// What is known of glibc's threads: nptl/descr.h, versions 2.32 to 2.41.
//
// - `pthread_t` is the address of the thread's descriptor. The descriptor has two words that link
//   the descriptors of threads into a list, then the kernel's number of the thread.
// - A thread's stack ends with its variables and its descriptor, in one mapping.
//
// The check of itself: the calling thread's number and links are found in its own descriptor.

int32_t tether_current_thread_number(void) { return (int32_t)syscall(SYS_gettid); }

// Whether two words at an address link the address into a list in both directions.
static int is_linked(uintptr_t address) {
    uintptr_t links[2], back = 0, forth = 0;
    if (tether_read_memory(address, links, sizeof links) != sizeof links) return 0;
    if (tether_read_memory(links[0] + 8, &back, 8) != 8) return 0;
    if (tether_read_memory(links[1], &forth, 8) != 8) return 0;
    return back == address && forth == address;
}

static int compare_numbers(const void *a, const void *b) {
    int32_t first = *(const int32_t *)a, second = *(const int32_t *)b;
    return (first > second) - (first < second);
}

void prepare_threads(struct thread_search *search) {
    memset(search, 0, sizeof *search);
    uintptr_t own = (uintptr_t)pthread_self();
    int32_t number = tether_current_thread_number();
    for (size_t offset = 128; offset < 1024 && !search->number_offset; offset += 8) {
        int32_t word = 0;
        if (tether_read_memory(own + offset, &word, sizeof word) != sizeof word) return;
        if (word == number && is_linked(own + offset - 16)) search->number_offset = offset;
    }
    DIR *folder = opendir("/proc/self/task");
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder)) && search->count < max_threads;) {
        int32_t found = atoi(entry->d_name);
        if (found > 0) search->numbers[search->count++] = found;
    }
    closedir(folder);
    if (!search->count) return;
    qsort(search->numbers, search->count, sizeof search->numbers[0], compare_numbers);
    search->lowest = search->numbers[0];
    search->span = (uint32_t)(search->numbers[search->count - 1] - search->lowest);
}

static int is_number(const struct thread_search *search, int32_t number) {
    return bsearch(&number, search->numbers, search->count, sizeof number, compare_numbers) != NULL;
}

void find_threads(
    struct tether_memory_index *index, const struct thread_search *search, uintptr_t address,
    const uintptr_t *words, size_t count) {
    if (!search->number_offset || !search->count) return;
    for (size_t i = 0; i < count && index->thread_count < max_threads; i++) {
        int32_t number = (int32_t)words[i];
        if ((uint32_t)(number - search->lowest) > search->span) continue;
        uintptr_t place = address + i * 8;
        if (!is_number(search, number) || !is_linked(place - 16)) continue;
        index->threads[index->thread_count++] = (struct tether_thread){
            .number = number, .descriptor = ~(place - search->number_offset)};
    }
}

size_t tether_memory_index_threads(
    const struct tether_memory_index *index, struct tether_thread *threads, size_t capacity) {
    size_t count = index->thread_count < capacity ? index->thread_count : capacity;
    memcpy(threads, index->threads, count * sizeof *threads);
    return count;
}

struct extent { size_t before, after; };

// The variables of the calling thread stand below its descriptor (x86-64) or above it (ARM64), at
// the same distance as those of each thread.
static int extend(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct extent *extent = data;
    uintptr_t descriptor = (uintptr_t)pthread_self(), variables = (uintptr_t)info->dlpi_tls_data;
    const uintptr_t farthest = 1 << 16;
    if (!variables) return 0;
    if (variables < descriptor && descriptor - variables < farthest) {
        size_t before = descriptor - variables;
        if (before > extent->before) extent->before = before;
    }
    if (variables > descriptor && variables - descriptor < farthest) {
        size_t after = variables - descriptor + page_size;
        if (after > extent->after) extent->after = after;
    }
    return 0;
}

void tether_thread_extent(size_t *before, size_t *after) {
    struct extent extent = {.before = 0, .after = 2560};
    dl_iterate_phdr(extend, &extent);
    *before = extent.before;
    *after = extent.after;
}

// The chain of frame pointers: {the caller's frame pointer, the return address}. Swift marks the
// frame of an async function in the upper bits of the first word; ARM64 may sign the second one.
size_t tether_frames(struct tether_frame *frames, size_t capacity) {
    const uintptr_t address_bits = 0x0000FFFFFFFFFFFFu, largest_frame = 1 << 24;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    uintptr_t words[2];
    size_t count = 0;
    while (count < capacity && !(frame & 7)
        && tether_read_memory(frame, words, sizeof words) == sizeof words) {
        frames[count++] = (struct tether_frame){
            .return_address = ~(words[1] & address_bits), .end = ~(frame + sizeof words)};
        uintptr_t next = words[0] & address_bits;
        if (next <= frame || next - frame > largest_frame) break;
        frame = next;
    }
    return count;
}
#else
int32_t tether_current_thread_number(void) { return 0; }

void tether_thread_extent(size_t *before, size_t *after) {
    *before = 0;
    *after = 0;
}

size_t tether_frames(struct tether_frame *frames, size_t capacity) {
    (void)frames;
    (void)capacity;
    return 0;
}
#endif
