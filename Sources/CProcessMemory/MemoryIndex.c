#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "MemoryIndex.h"

#if defined(__linux__) && defined(__GLIBC__) && UINTPTR_MAX > UINT32_MAX
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

// An index of all words of this process that are the address of a chunk of the allocator.
//
// 1. The writable mappings are read from /proc/self/maps: the regions. Words are numbered through
//    all regions.
// 2. The chunks of each region are marked in a bitmap (GlibcHeap.c).
// 3. A pass over all words makes a list for each page of the heap: the words that lead to chunks of
//    the page.
// 4. A look-up reads the list of one page, and each word again: other threads may have changed it.
//
// The cost: two reads of the heap, and one of other memory; a bit for each 16 bytes of heap, 4
// bytes for each page of it, and 8 bytes for each word that leads to a chunk. All of it is in one
// shared mapping, and shared mappings are no regions. So an index finds neither itself, nor the
// copies that it reads, nor another index.

enum { granule_count = 1 << 14 };

// The lowest bits and the highest byte of a reference may be flags.
static const uintptr_t reference_bits = 0x00FFFFFFFFFFFFF8u;

struct granule {
    // The complement of the address's upper bits; 0 in an unused granule.
    uintptr_t tag;
    // The number of the region of all addresses with these bits, or one of the two below.
    int region;
};

enum { no_region = -1, several_regions = -2 };

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

int is_over(const struct tether_memory_index *index) { return now() > index->deadline; }

int has_chunks(const struct region *region) {
    return region->kind == tether_region_anonymous || region->kind == tether_region_main_heap;
}

// Takes zeroed memory of the index's mapping; null if there is no more.
static void *take(struct tether_memory_index *index, size_t size) {
    size_t begin = (index->used + page_size - 1) & ~(size_t)(page_size - 1);
    if (size > index->reserved || begin > index->reserved - size) return NULL;
    index->used = begin + size;
    return index->memory + begin;
}

// MARK: Regions

static void add_region(
    struct tether_memory_index *index, uintptr_t start, uintptr_t end,
    enum tether_region_kind kind) {
    if (start >= end || index->region_count == max_regions) return;
    index->regions[index->region_count++] =
        (struct region){.start = start, .end = end, .kind = kind};
}

static void read_regions(struct tether_memory_index *index) {
    FILE *file = fopen("/proc/self/maps", "re");
    if (!file) return;
    char line[4500];
    while (fgets(line, sizeof line, file)) {
        unsigned long start, end, inode;
        char rights[5];
        int length = 0;
        int fields = sscanf(
            line, "%lx-%lx %4s %*x %*s %lu %n", &start, &end, rights, &inode, &length);
        if (fields < 4 || strncmp(rights, "rw", 2) != 0 || rights[3] == 's') continue;
        const char *name = line + length;
        if (strncmp(name, "[v", 2) == 0) continue;
        enum tether_region_kind kind = inode ? tether_region_file : tether_region_anonymous;
        if (strncmp(name, "[stack", 6) == 0) kind = tether_region_main_stack;
        if (strncmp(name, "[heap", 5) == 0) kind = tether_region_main_heap;
        add_region(index, start, end, kind);
    }
    fclose(file);
}

// The number of the first region that ends behind an address.
static size_t region_behind(const struct tether_memory_index *index, uintptr_t address) {
    size_t low = 0, high = index->region_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (index->regions[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct region *find_region(const struct tether_memory_index *index, uintptr_t address) {
    size_t number = region_behind(index, address);
    if (number == index->region_count || index->regions[number].start > address) return NULL;
    return &index->regions[number];
}

// The granule of an address, filled at its first use.
static const struct granule *find_granule(struct tether_memory_index *index, uintptr_t address) {
    uintptr_t bits = address >> 16;
    struct granule *granule = &index->granules[bits & (granule_count - 1)];
    if (granule->tag == ~bits) return granule;
    granule->tag = ~bits;
    granule->region = no_region;
    uintptr_t start = bits << 16, end = start + (1 << 16);
    for (size_t number = region_behind(index, start); number < index->region_count; number++) {
        const struct region *region = &index->regions[number];
        if (region->start >= end) break;
        if (!has_chunks(region)) continue;
        int covers = region->start <= start && region->end >= end;
        granule->region = covers && granule->region == no_region ? (int)number : several_regions;
    }
    return granule;
}

// MARK: Words

// The page of the heap to which a word leads, or -1.
static inline int64_t page_of(struct tether_memory_index *index, uintptr_t address) {
    const struct granule *granule = &index->granules[(address >> 16) & (granule_count - 1)];
    if (granule->tag != ~(address >> 16)) granule = find_granule(index, address);
    if (granule->region == no_region) return -1;
    const struct region *region = granule->region == several_regions
        ? find_region(index, address) : &index->regions[granule->region];
    if (!region || !has_chunks(region) || !is_chunk_start(index, region, address)) return -1;
    return (int64_t)(region->first_page + (address - region->start) / page_size);
}

// Adds the words that lead to chunks; false without memory.
static int add_words(
    struct tether_memory_index *index, const uintptr_t *words, size_t count, uint64_t first_word,
    uintptr_t lowest, uintptr_t span) {
    for (size_t i = 0; i < count; i++) {
        uintptr_t address = words[i] & reference_bits;
        if (address - lowest >= span) continue;
        int64_t page = page_of(index, address);
        if (page < 0) continue;
        if (index->entry_count == index->entry_limit) return 0;
        uint32_t number = index->entry_count++;
        index->entries[number] = (struct entry){
            .place = (uint32_t)(first_word + i), .next = index->page_lists[page]};
        index->page_lists[page] = number;
    }
    return 1;
}

// Reads all words; false if the time is over, or without memory.
static int read_words(struct tether_memory_index *index) {
    uintptr_t lowest = UINTPTR_MAX, highest = 0;
    for (size_t i = 0; i < index->region_count; i++) {
        const struct region *region = &index->regions[i];
        if (!has_chunks(region)) continue;
        if (region->start < lowest) lowest = region->start;
        if (region->end > highest) highest = region->end;
    }
    struct thread_search threads;
    prepare_threads(&threads);
    uintptr_t *words = (uintptr_t *)index->buffer;
    for (size_t i = 0; i < index->region_count; i++) {
        const struct region *region = &index->regions[i];
        for (uintptr_t at = region->start; at < region->end;) {
            if (is_over(index)) return 0;
            size_t wanted = region->end - at < copy_size ? region->end - at : copy_size;
            size_t copied = tether_read_memory(at, words, wanted);
            uint64_t first_word = region->first_word + (at - region->start) / 8;
            if (!add_words(index, words, copied / 8, first_word, lowest, highest - lowest)) {
                return 0;
            }
            if (has_chunks(region)) find_threads(index, &threads, at, words, copied / 8);
            // A page that cannot be read is left out.
            int is_whole = copied == wanted;
            at += is_whole ? wanted : (copied & ~(size_t)(page_size - 1)) + page_size;
        }
    }
    return 1;
}

// MARK: Making

// Numbers the words, and takes the memory for the chunks and pages; false without memory.
static int number_words(struct tether_memory_index *index) {
    uint64_t words = 0, units = 0, pages = 0;
    for (size_t i = 0; i < index->region_count; i++) {
        struct region *region = &index->regions[i];
        uint64_t size = region->end - region->start;
        region->first_word = words;
        words += size / 8;
        if (!has_chunks(region)) continue;
        region->first_unit = units;
        region->first_page = pages;
        units += size / 16;
        pages += size / page_size;
    }
    // Places are 32 bits. A sanitizer reserves far more.
    if (words > UINT32_MAX) return 0;
    index->chunk_starts = take(index, units / 8 + 64);
    index->page_lists = take(index, pages * sizeof(uint32_t) + 1);
    return index->chunk_starts && index->page_lists;
}

static int fill(struct tether_memory_index *index) {
    index->regions = take(index, max_regions * sizeof(struct region));
    index->granules = take(index, granule_count * sizeof(struct granule));
    index->buffer = take(index, copy_size);
    if (!index->regions || !index->granules || !index->buffer || !prepare_heap(index)) return 0;
    read_regions(index);
    if (!number_words(index)) return 0;
    for (size_t i = 0; i < index->region_count; i++) {
        if (has_chunks(&index->regions[i]) && !mark_chunks(index, &index->regions[i])) return 0;
    }
    // The rest of the mapping. Memory that is not written costs nothing.
    uint64_t left = (index->reserved - index->used - page_size) / sizeof(struct entry);
    index->entry_limit = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
    index->entries = take(index, index->entry_limit * sizeof(struct entry));
    // Entry 0 ends each list.
    index->entry_count = 1;
    return index->entries && read_words(index);
}

struct tether_memory_index *tether_memory_index_make(uint64_t nanoseconds) {
    const size_t most = (size_t)64 << 30, least = (size_t)64 << 20;
    size_t reserved = most;
    char *memory = MAP_FAILED;
    while (reserved >= least) {
        memory = mmap(
            NULL, reserved, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
            -1, 0);
        if (memory != MAP_FAILED) break;
        reserved /= 2;
    }
    if (memory == MAP_FAILED) return NULL;
    struct tether_memory_index *index = (struct tether_memory_index *)memory;
    index->memory = memory;
    index->reserved = reserved;
    index->used = sizeof *index;
    index->deadline = now() + nanoseconds;
    if (fill(index)) return index;
    munmap(memory, reserved);
    return NULL;
}

void tether_memory_index_free(struct tether_memory_index *index) {
    if (index) munmap(index->memory, index->reserved);
}

// MARK: Asking

size_t tether_memory_index_find(
    const struct tether_memory_index *index, uintptr_t address, uintptr_t *places,
    size_t capacity) {
    struct region *target = find_region(index, ~address);
    if (!target || !has_chunks(target)) return 0;
    uint64_t page = target->first_page + (~address - target->start) / page_size;
    size_t count = 0;
    for (uint32_t i = index->page_lists[page]; i; i = index->entries[i].next) {
        uint32_t number = index->entries[i].place;
        // The last region whose first word is not behind the place.
        size_t low = 0, high = index->region_count;
        while (high - low > 1) {
            size_t middle = (low + high) / 2;
            if (index->regions[middle].first_word <= number) {
                low = middle;
            } else {
                high = middle;
            }
        }
        const struct region *region = &index->regions[low];
        uintptr_t place = region->start + (number - region->first_word) * 8;
        uintptr_t word = 0;
        if (tether_read_memory(place, &word, sizeof word) != sizeof word) continue;
        if ((word & reference_bits) != ~address) continue;
        if (count < capacity) places[count] = ~place;
        count++;
    }
    return count;
}

enum tether_region_kind tether_memory_index_region(
    const struct tether_memory_index *index, uintptr_t place, uintptr_t *start, uintptr_t *end) {
    const struct region *region = find_region(index, ~place);
    if (!region) return tether_region_none;
    *start = ~region->start;
    *end = ~region->end;
    return region->kind;
}
#else
struct tether_memory_index *tether_memory_index_make(uint64_t nanoseconds) {
    (void)nanoseconds;
    return NULL;
}

void tether_memory_index_free(struct tether_memory_index *index) { (void)index; }

size_t tether_memory_index_find(
    const struct tether_memory_index *index, uintptr_t address, uintptr_t *places,
    size_t capacity) {
    (void)index;
    (void)address;
    (void)places;
    (void)capacity;
    return 0;
}

enum tether_chunk_state tether_memory_index_chunk(
    const struct tether_memory_index *index, uintptr_t place, uintptr_t *chunk, size_t *size) {
    (void)index;
    (void)place;
    (void)chunk;
    (void)size;
    return tether_chunk_none;
}

enum tether_region_kind tether_memory_index_region(
    const struct tether_memory_index *index, uintptr_t place, uintptr_t *start, uintptr_t *end) {
    (void)index;
    (void)place;
    (void)start;
    (void)end;
    return tether_region_none;
}

size_t tether_memory_index_threads(
    const struct tether_memory_index *index, struct tether_thread *threads, size_t capacity) {
    (void)index;
    (void)threads;
    (void)capacity;
    return 0;
}
#endif
