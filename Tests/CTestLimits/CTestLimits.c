#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "CTestLimits.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__) && __has_include(<execinfo.h>)
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Only the watchdog asks, one thread at a time.
static void *found[TETHER_FRAMES];
static atomic_int found_count;

static void answer(int signal) {
    (void)signal;
    int saved = errno;
    // Unwinds by the compiler's tables for exceptions, which C libraries have as well.
    int count = backtrace(found, TETHER_FRAMES);
    atomic_store(&found_count, count);
    errno = saved;
}

int32_t tether_current_thread(void) { return (int32_t)syscall(SYS_gettid); }

size_t tether_thread_stack(int32_t thread, uintptr_t *frames, size_t count) {
    // The only signal that Dispatch leaves unblocked on its threads, and that no debugger or
    // sanitizer uses.
    int number = SIGPROF;
    struct sigaction action = {.sa_handler = answer, .sa_flags = SA_RESTART};
    sigaction(number, &action, NULL);
    atomic_store(&found_count, 0);
    if (syscall(SYS_tgkill, getpid(), thread, number) != 0) return 0;
    for (int wait = 0; wait < 1000 && atomic_load(&found_count) == 0; wait++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    size_t total = (size_t)atomic_load(&found_count);
    if (total > count) total = count;
    for (size_t index = 0; index < total; index++) frames[index] = (uintptr_t)found[index];
    return total;
}
#else
int32_t tether_current_thread(void) { return 0; }

size_t tether_thread_stack(int32_t thread, uintptr_t *frames, size_t count) {
    (void)thread;
    (void)frames;
    (void)count;
    return 0;
}
#endif

struct tether_place tether_place_of(uintptr_t address) {
    Dl_info info;
    if (dladdr((void *)address, &info) == 0) return (struct tether_place){NULL, 0, NULL};
    return (struct tether_place){info.dli_fname, (uintptr_t)info.dli_fbase, info.dli_sname};
}

// Defined in Swift, by the target TestLimits.
extern void tether_watch_tests(bool is_swift_testing, int32_t event_pipe);

#if defined(__linux__)
// From Swift's standard library: the arguments that `CommandLine.arguments` returns in place of the
// process's.
extern void _swift_stdlib_overrideUnsafeArgvArgc(char **arguments, int count);

static const char option[] = "--event-stream-output-path";

// The index of the value of the option that requests Swift Testing's events. 0 without the option.
static int event_path(int count, char **arguments) {
    for (int index = 1; index + 1 < count; index++) {
        if (strcmp(arguments[index], option) == 0) return index + 1;
    }
    return 0;
}

// Makes Swift Testing write its events, for tools, into a pipe of the process. Returns the reading
// end.
static int32_t open_events(int count, char **arguments) {
    int ends[2];
    char **all = calloc((size_t)count + 5, sizeof(char *));
    if (all == NULL || pipe2(ends, O_CLOEXEC) != 0) return -1;
    memcpy(all, arguments, (size_t)count * sizeof(char *));
    all[count] = (char *)option;
    if (asprintf(&all[count + 1], "/dev/fd/%d", ends[1]) < 0) return -1;
    all[count + 2] = "--event-stream-version";
    all[count + 3] = "0";
    _swift_stdlib_overrideUnsafeArgvArgc(all, count + 4);
    return ends[0];
}

// Runs before the test runner, which has no options but its arguments.
__attribute__((constructor)) static void start(int count, char **arguments) {
    bool is_swift_testing = false;
    for (int index = 1; index < count; index++) is_swift_testing |= strcmp(arguments[index], "swift-testing") == 0;
    int path = event_path(count, arguments);
    if (getenv("SWT_EXIT_TEST_ID") != NULL) {
        // The arguments are the parent's, whose pipe is not here.
        if (path > 0) arguments[path] = "/dev/null";
        tether_watch_tests(true, -1);
    } else {
        tether_watch_tests(is_swift_testing, is_swift_testing && path == 0 ? open_events(count, arguments) : -1);
    }
}
#endif
