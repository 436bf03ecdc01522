// The number and the name of the calling thread, which the C libraries do not declare for Swift.

#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE // syscall
#endif

#include "COwnerLifetime.h"

#include <pthread.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#elif defined(__FreeBSD__)
#include <pthread_np.h>
#endif

uint64_t tether_thread_number(void) {
#if defined(__linux__)
    return syscall(SYS_gettid);
#elif defined(__FreeBSD__)
    return pthread_getthreadid_np();
#else
    uint64_t number;
    pthread_threadid_np(NULL, &number);
    return number;
#endif
}

void tether_thread_name(char name[64]) {
    *name = 0;
#if defined(__linux__)
    prctl(PR_GET_NAME, name);
#elif defined(__APPLE__)
    pthread_getname_np(pthread_self(), name, 64);
#endif
}
