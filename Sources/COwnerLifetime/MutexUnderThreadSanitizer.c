// Lets ThreadSanitizer see the slow path of the standard library's Mutex on Linux.
//
// A contended `Synchronization.Mutex` is taken and given back inside libswiftSynchronization, which is not
// instrumented, and by the kernel (a PI futex). ThreadSanitizer sees neither, and calls what the mutex guards a data
// race. In builds for ThreadSanitizer, and no others, these two functions stand in for the library's own.

#if defined(__linux__) && defined(__has_feature)
#if __has_feature(thread_sanitizer)

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

static void futex(void *word, int operation) {
    while (syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, 0, NULL) != 0) {
        if (errno != EINTR && errno != EAGAIN) abort();
    }
}

// Swift's calling convention for a method of `_MutexHandle`, whose only field is the futex.
#define SWIFT(symbol) __attribute__((swiftcall)) void symbol
#define SELF __attribute__((swift_context)) void *handle

SWIFT(lock_slow)(uint32_t thread, SELF) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT(unlock_slow)(SELF) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

SWIFT(lock_slow)(uint32_t thread, SELF) {
    (void)thread;
    futex(handle, FUTEX_LOCK_PI);
    __tsan_acquire(handle);
}

SWIFT(unlock_slow)(SELF) {
    __tsan_release(handle);
    futex(handle, FUTEX_UNLOCK_PI);
}

#endif
#endif
