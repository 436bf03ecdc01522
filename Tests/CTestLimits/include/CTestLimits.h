/// The functions in C for the limit of each test: a call when the process starts, and the stacks of
/// all threads.
#ifndef TETHER_C_TEST_LIMITS_H
#define TETHER_C_TEST_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/// The most printed frames of a thread.
#define TETHER_FRAMES 64

/// The calling thread's number, for `tether_thread_stack`.
int32_t tether_current_thread(void);

/// Writes the return addresses of a thread of the process, the innermost first, and returns their
/// number. Returns 0 if the thread does not answer within a second, or if the platform is not
/// supported.
size_t tether_thread_stack(int32_t thread, uintptr_t *_Nonnull frames, size_t count);

/// The place of an address: the image's path and first address, and the nearest exported symbol.
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
