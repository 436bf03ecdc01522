/// The functions in C for the limit of each test: a call when the process starts, and the stacks of
/// all threads.
#ifndef TETHER_C_TEST_LIMITS_H
#define TETHER_C_TEST_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/// The most frames of a thread that are printed.
#define TETHER_FRAMES 64

/// The calling thread's number, as `tether_thread_stack` takes it.
int32_t tether_current_thread(void);

/// Writes the return addresses of a thread of this process, the innermost first, and returns how
/// many there are; 0 if the thread does not answer within a second, or this platform has no way to
/// ask.
size_t tether_thread_stack(int32_t thread, uintptr_t *_Nonnull frames, size_t count);

/// Where an address belongs: the image's path and first address, and the nearest symbol that it
/// exports.
struct tether_place {
    const char *_Nullable image;
    uintptr_t base;
    const char *_Nullable symbol;
};

struct tether_place tether_place_of(uintptr_t address);

#if defined(__cplusplus)
}
#endif

#endif
