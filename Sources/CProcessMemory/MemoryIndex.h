// The parts of the index that its files share. Private to this module.
#ifndef TETHER_MEMORY_INDEX_H
#define TETHER_MEMORY_INDEX_H

#include "CProcessMemory.h"

enum {
    page_size = 4096,
    copy_size = 1 << 20,
    max_regions = 8192,
    max_threads = 512,
};

// A readable and writable mapping.
struct region {
    uintptr_t start, end;
    enum tether_region_kind kind;
    // The number of the first word, among the words of all regions.
    uint64_t first_word;
    // The numbers of the first 16 bytes, and of the first page, among those of the regions that may
    // have chunks.
    uint64_t first_unit, first_page;
};

// A part of a list of words.
struct entry {
    // The number of the word.
    uint32_t place;
    // The number of the next entry; 0 in the last one.
    uint32_t next;
};

// The region of all addresses with the same upper bits: a cache of `find_region`.
struct granule;

struct tether_memory_index {
    // All that follows is in this mapping, which is shared, and so is no region.
    char *memory;
    size_t reserved, used;
    uint64_t deadline;

    struct region *regions;
    size_t region_count;
    struct granule *granules;
    // Copies of memory.
    char *buffer;

    // A bit for each 16 bytes: whether a chunk begins there.
    uint64_t *chunk_starts;
    // The second word of a freed chunk in a thread's cache; 0 if there are no such caches.
    uintptr_t cache_key;

    // For each page of the heap a list of the words that lead to chunks of the page.
    uint32_t *page_lists;
    struct entry *entries;
    uint32_t entry_count, entry_limit;

    struct tether_thread threads[max_threads];
    size_t thread_count;
};

// MARK: MemoryIndex.c

int is_over(const struct tether_memory_index *index);
int has_chunks(const struct region *region);
// The region around an address, or null.
struct region *find_region(const struct tether_memory_index *index, uintptr_t address);

// MARK: GlibcHeap.c

// Finds the key of the threads' caches; false if this allocator is another.
int prepare_heap(struct tether_memory_index *index);
// Marks the chunks of a region; false if the time is over.
int mark_chunks(struct tether_memory_index *index, struct region *region);
int is_chunk_start(
    const struct tether_memory_index *index, const struct region *region, uintptr_t address);

// MARK: GlibcThreads.c

// Finds the places of the fields of a thread's descriptor, and the numbers of all threads.
struct thread_search {
    // The offset of the thread's number in its descriptor; 0 if descriptors cannot be found.
    size_t number_offset;
    int32_t numbers[max_threads];
    size_t count;
    int32_t lowest;
    uint32_t span;
};
void prepare_threads(struct thread_search *search);
// Adds the descriptors in a copy of memory.
void find_threads(
    struct tether_memory_index *index, const struct thread_search *search, uintptr_t address,
    const uintptr_t *words, size_t count);

#endif
