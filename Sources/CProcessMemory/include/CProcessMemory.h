/// What `TetherTesting`'s diagnoses need of C: copies of this process's memory, an index of its
/// references, and the symbols and lines of its images.
///
/// The searched memory is that of the process which searches. An address in a variable, a buffer or
/// a register that was saved would be found there as a holder. So every address that these functions
/// take or return is complemented, but that of `tether_read_memory`.
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

// MARK: The index of all references into the heap (Linux, glibc)

struct tether_memory_index;

/// Reads the memory. Null on another system, with another allocator, without memory, or if the time
/// is over before.
struct tether_memory_index *_Nullable tether_memory_index_make(uint64_t nanoseconds);

void tether_memory_index_free(struct tether_memory_index *_Nullable index);

/// Finds the words that are an address now, and returns their number.
size_t tether_memory_index_find(
    const struct tether_memory_index *_Nonnull index, uintptr_t address,
    uintptr_t *_Nonnull places, size_t capacity);

enum tether_chunk_state {
    tether_chunk_none,
    tether_chunk_used,
    tether_chunk_free,
};

/// The chunk of the allocator around a place: its first byte and its size.
enum tether_chunk_state tether_memory_index_chunk(
    const struct tether_memory_index *_Nonnull index, uintptr_t place, uintptr_t *_Nonnull chunk,
    size_t *_Nonnull size);

enum tether_region_kind {
    tether_region_none,
    tether_region_anonymous,
    tether_region_file,
    tether_region_main_stack,
    tether_region_main_heap,
};

/// The mapping around a place: its first byte and its end.
enum tether_region_kind tether_memory_index_region(
    const struct tether_memory_index *_Nonnull index, uintptr_t place, uintptr_t *_Nonnull start,
    uintptr_t *_Nonnull end);

// MARK: Threads (Linux, glibc)

/// A thread that ran when the index was made.
struct tether_thread {
    /// The kernel's number of the thread.
    int32_t number;
    /// The address of its descriptor.
    uintptr_t descriptor;
};

size_t tether_memory_index_threads(
    const struct tether_memory_index *_Nonnull index, struct tether_thread *_Nonnull threads,
    size_t capacity);

int32_t tether_current_thread_number(void);

/// The bytes before and after the address of a descriptor that are the thread's own: the descriptor,
/// and the variables of the thread.
void tether_thread_extent(size_t *_Nonnull before, size_t *_Nonnull after);

/// A frame of the calling thread: where it returns to, and where the caller's frame begins.
struct tether_frame {
    uintptr_t return_address;
    uintptr_t end;
};

/// The frames of the calling thread, innermost first.
size_t tether_frames(struct tether_frame *_Nonnull frames, size_t capacity);

// MARK: Symbols and lines (ELF, DWARF 4)

/// The result of a search for the symbol of an address.
struct tether_symbol {
    /// Whether the address is in an image.
    int is_in_image;
    /// The bytes from the symbol's beginning to the address; without a symbol, undefined.
    size_t offset;
};

/// Finds the symbol of an address. Writes its name, empty without a symbol, and the image's path.
///
/// Not thread-safe: the caller has a lock.
struct tether_symbol tether_find_symbol(
    uintptr_t address, char *_Nonnull name, size_t name_capacity, char *_Nonnull image,
    size_t image_capacity);

/// The line of a function, by its symbol in the image around an address; 0 without a line. Writes
/// the file's name.
///
/// Not thread-safe: the caller has a lock.
long tether_find_line(
    uintptr_t address, const char *_Nonnull symbol, char *_Nonnull file, size_t capacity);

#if defined(__cplusplus)
}
#endif

#endif
