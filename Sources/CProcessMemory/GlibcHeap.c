#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "MemoryIndex.h"

#if defined(__linux__) && defined(__GLIBC__) && UINTPTR_MAX > UINT32_MAX
#include <stdlib.h>

// What is known of glibc's allocator: malloc/malloc.c and malloc/arena.c, versions 2.32 to 2.41.
//
// - A chunk begins with two words: the size of the chunk before, if that is free, and its own size
//   with three flags. The user's memory follows, and may use the first word of the next chunk:
//
//       previous size | size, A M P | user's memory ... | previous size | size, A M P | ...
//
//   P says that the chunk before is in use, M that the chunk is a mapping of its own.
// - The main heap is a sequence of chunks (`brk`). Another arena has heaps of at most 64 MB at
//   multiples of 64 MB: {arena, heap before, size, mapped size, ...}, the arena itself in the first
//   one, then a sequence of chunks. The lowest bit A says that a chunk is in such a heap.
// - A freed chunk in a thread's cache is still marked as in use: the user's first word is a masked
//   link, and the second one a key, the same for the whole process.
// - A freed chunk of a fast bin is still marked as in use, too: its first word is a masked link.
//
// The check of itself: `prepare_heap` finds the key in chunks of its own, and `MemoryIndex` of Swift
// finds an object of its own before any use. Another allocator fails both, or the second.

static const uintptr_t heap_size = (uintptr_t)64 << 20;
static const uintptr_t size_flags = 7;
static const uintptr_t is_mapped = 2;
static const uintptr_t is_previous_used = 1;
static const uintptr_t largest_fast_chunk = 160;

// The key is found if two freed chunks of different sizes have it. A chunk whose cache is full has
// no key.
int prepare_heap(struct tether_memory_index *index) {
    enum { tries = 8 };
    uintptr_t found[tries] = {0};
    for (int i = 0; i < tries; i++) {
        volatile uintptr_t *chunk = malloc(600 + 32 * (size_t)i);
        if (!chunk) return 0;
        uintptr_t address = (uintptr_t)chunk;
        chunk[1] = 0;
        free((void *)chunk);
        tether_read_memory(address + 8, &found[i], 8);
        for (int k = 0; k < i; k++)
            if (found[i] && found[i] == found[k]) {
                index->cache_key = found[i];
                return 1;
            }
    }
    return 0;
}

static void mark(struct tether_memory_index *index, const struct region *region, uintptr_t user) {
    uint64_t unit = region->first_unit + (user - region->start) / 16;
    index->chunk_starts[unit / 64] |= (uint64_t)1 << (unit % 64);
}

int is_chunk_start(
    const struct tether_memory_index *index, const struct region *region, uintptr_t address) {
    if (address & 15) return 0;
    uint64_t unit = region->first_unit + (address - region->start) / 16;
    return (index->chunk_starts[unit / 64] >> (unit % 64)) & 1;
}

// The size of a chunk in a sequence; 0 if its header is none.
static uintptr_t size_in_sequence(uintptr_t chunk, uintptr_t header, uintptr_t end) {
    uintptr_t size = header & ~size_flags, left = end - chunk;
    if (size < 32 || size & 15 || header & is_mapped) return 0;
    if (size <= left) return size;
    // The last chunk of a heap that has grown since its end was read.
    int ends_page = ((chunk + size) & (page_size - 1)) == 0;
    return ends_page && size - left < heap_size ? left : 0;
}

// The part of a heap that the buffer has a copy of.
struct window { uintptr_t start, size; };

static int is_in_window(const struct window *window, uintptr_t chunk) {
    return chunk >= window->start && chunk + 16 <= window->start + window->size;
}

static uintptr_t header_of(
    const struct tether_memory_index *index, const struct window *window, uintptr_t chunk) {
    if (is_in_window(window, chunk)) {
        return *(uintptr_t *)(index->buffer + (chunk + 8 - window->start));
    }
    uintptr_t header = 0;
    return tether_read_memory(chunk + 8, &header, 8) == 8 ? header : 0;
}

// Whether a sequence begins at a place: several chunks, or all up to the end.
static int begins_sequence(
    const struct tether_memory_index *index, const struct window *window, uintptr_t chunk,
    uintptr_t end) {
    for (int n = 0; n < 16 && chunk + 16 <= end; n++) {
        uintptr_t size = size_in_sequence(chunk, header_of(index, window, chunk), end);
        if (!size) return 0;
        chunk += size;
    }
    return 1;
}

// Marks the chunks of a heap, from header to header. Other threads change the heap meanwhile, and a
// copy of it is not of one moment. A chunk that was joined with the one before has no header any
// more: the next sequence is then searched.
static void mark_heap(
    struct tether_memory_index *index, const struct region *region, uintptr_t chunk,
    uintptr_t end) {
    struct window window = {0, 0};
    int is_in_sequence = 0;
    while (chunk + 32 <= end) {
        if (!is_in_window(&window, chunk)) {
            if (is_over(index)) return;
            size_t wanted = end - chunk < copy_size ? end - chunk : copy_size;
            window.start = chunk;
            window.size = tether_read_memory(chunk, index->buffer, wanted);
            if (window.size < 16) return;
        }
        uintptr_t size = size_in_sequence(chunk, header_of(index, &window, chunk), end);
        if (!is_in_sequence && size && !begins_sequence(index, &window, chunk, end)) size = 0;
        is_in_sequence = size > 0;
        if (size) mark(index, region, chunk + 16);
        chunk += size ? size : 16;
    }
}

// Whether the first words of 64 MB are those of a heap of an arena.
static int is_heap(const uintptr_t *head, uintptr_t address) {
    uintptr_t arena = head[0], before = head[1], size = head[2], mapped = head[3];
    if (address & (heap_size - 1) || !arena || before & (heap_size - 1)) return 0;
    if (size < page_size || size & (page_size - 1) || size > mapped || mapped > heap_size) return 0;
    return before || (arena & ~(heap_size - 1)) == address;
}

int mark_chunks(struct tether_memory_index *index, struct region *region) {
    if (region->kind == tether_region_main_heap) {
        mark_heap(index, region, region->start, region->end);
        return !is_over(index);
    }
    for (uintptr_t place = region->start; place < region->end;) {
        if (is_over(index)) return 0;
        uintptr_t head[4] = {0};
        if (tether_read_memory(place, head, sizeof head) != sizeof head) {
            place += page_size;
            continue;
        }
        if (is_heap(head, place)) {
            // The heap may have grown since the regions were read.
            uintptr_t left = region->end - place;
            uintptr_t end = place + (head[2] < left ? head[2] : left);
            // The first heap has the arena behind its head.
            uintptr_t behind = head[1] ? place + 32 : head[0] + 1024;
            mark_heap(index, region, behind, end);
            place = end;
            continue;
        }
        uintptr_t size = head[1] & ~size_flags;
        int is_own_mapping = (head[1] & size_flags) == is_mapped && !head[0] && size >= page_size
            && !(size & (page_size - 1)) && size <= region->end - place;
        if (is_own_mapping) mark(index, region, place + 16);
        place += is_own_mapping ? size : page_size;
    }
    return 1;
}

// The place of the last marked chunk before an address, or 0.
static uintptr_t last_start(
    const struct tether_memory_index *index, const struct region *region, uintptr_t address) {
    uint64_t unit = region->first_unit + (address - region->start) / 16;
    uint64_t at = unit / 64;
    uint64_t bits = index->chunk_starts[at] & (~(uint64_t)0 >> (63 - unit % 64));
    while (!bits && at * 64 > region->first_unit) bits = index->chunk_starts[--at];
    if (!bits) return 0;
    uint64_t found = at * 64 + 63 - (uint64_t)__builtin_clzll(bits);
    return found < region->first_unit ? 0 : region->start + (found - region->first_unit) * 16;
}

static int is_freed(
    const struct tether_memory_index *index, const struct region *region, uintptr_t user,
    const uintptr_t *head, uintptr_t size) {
    uintptr_t next_header = 0, next = user - 16 + size;
    if (next + 16 > region->end || tether_read_memory(next + 8, &next_header, 8) != 8) return 1;
    if (!(next_header & is_previous_used)) return 1;
    if (head[3] == index->cache_key) return 1;
    if (size > largest_fast_chunk) return 0;
    uintptr_t link = head[2] ^ (user >> 12);
    if (link == 0) return 1;
    struct region *other = find_region(index, link + 16);
    return other && has_chunks(other) && is_chunk_start(index, other, link + 16);
}

enum tether_chunk_state tether_memory_index_chunk(
    const struct tether_memory_index *index, uintptr_t place, uintptr_t *chunk, size_t *usable) {
    uintptr_t address = ~place;
    struct region *region = find_region(index, address);
    if (!region || !has_chunks(region)) return tether_chunk_none;
    uintptr_t user = last_start(index, region, address);
    uintptr_t head[4];
    if (!user || tether_read_memory(user - 16, head, sizeof head) != sizeof head) {
        return tether_chunk_none;
    }
    uintptr_t size = head[1] & ~size_flags;
    *chunk = ~user;
    if (head[1] & is_mapped) {
        if (size < 32 || address >= user - 16 + size) return tether_chunk_none;
        *usable = size - 16;
        return tether_chunk_used;
    }
    if (size < 32 || size & 15 || address >= user + size - 8) return tether_chunk_none;
    *usable = size - 8;
    return is_freed(index, region, user, head, size) ? tether_chunk_free : tether_chunk_used;
}
#endif
