#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE // pthread_setname_np, syscall
#endif

#include "COwnerLifetime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#elif defined(__FreeBSD__)
#include <pthread_np.h>
#endif
#if defined(__ANDROID__)
#include <android/api-level.h>
#endif

#pragma GCC visibility push(default)
// As in <dispatch/dispatch.h>, which needs a compiler with blocks.
extern void dispatch_async_f(void *queue, void *context, void (*work)(void *));
#pragma GCC visibility pop

void tether_async(void *queue, void *context, void (*work)(void *)) { dispatch_async_f(queue, context, work); }

bool tether_try_lock(uint8_t *lock) { return !__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); }
void tether_unlock(uint8_t *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

_Thread_local void *tether_current_record;
_Thread_local uint32_t tether_lock_ranks;
static pthread_key_t exit_key;
/// False in a program that has used up the keys: no thread's exit is seen there.
static bool has_exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;
static void (*_Atomic exit_function)(void *);

static _Thread_local bool is_exiting;

static void thread_exits(void *record) {
    is_exiting = true;
    tether_current_record = NULL;
    atomic_load_explicit(&exit_function, memory_order_acquire)(record);
}

static void make_exit_key(void) { has_exit_key = pthread_key_create(&exit_key, thread_exits) == 0; }

void tether_set_thread_record(void *record, void (*on_exit)(void *)) {
    // Every caller passes the same function.
    atomic_store_explicit(&exit_function, on_exit, memory_order_release);
    pthread_once(&exit_key_once, make_exit_key);
    tether_current_record = record;
    if (has_exit_key) pthread_setspecific(exit_key, record);
}

bool tether_thread_is_exiting(void) { return is_exiting; }

bool tether_is_main_thread(void) {
#if defined(__linux__)
    // Kept, because the answer takes two system calls.
    static _Thread_local signed char answer;
    if (!answer) answer = syscall(SYS_gettid) == getpid() ? 1 : -1;
    return answer > 0;
#else
    return pthread_main_np();
#endif
}

void tether_end_thread_record(void) {
    void *record = tether_current_record;
    if (!record) return;
    if (has_exit_key) pthread_setspecific(exit_key, NULL);
    thread_exits(record);
}

void tether_name_thread(const char *name) {
    char start[16];
    snprintf(start, sizeof start, "%s", name);
#if defined(__APPLE__)
    pthread_setname_np(start);
#elif defined(__linux__)
    pthread_setname_np(pthread_self(), start);
#endif
}

void tether_copy_thread_name(char *name) {
    name[0] = '\0';
#if defined(__APPLE__)
    pthread_getname_np(pthread_self(), name, TETHER_THREAD_NAME_SIZE);
#elif defined(__linux__)
    prctl(PR_GET_NAME, name);
#endif
}

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

const char *tether_environment_variable(const char *name) {
#if defined(__linux__)
    bool has_more_rights = getauxval(AT_SECURE) != 0;
#else
    bool has_more_rights = issetugid();
#endif
    return has_more_rights ? NULL : getenv(name);
}

// Posting threads fence until a fence of all threads has worked. On ARM64, and afterwards, posting
// threads fence only while a thread waits for handlers.
#if defined(__aarch64__)
uintptr_t tether_awaited = 0;
#else
uintptr_t tether_awaited = TETHER_POSTERS_FENCE;
#endif

#if defined(__linux__) && defined(SYS_membarrier) && !defined(__aarch64__)
static bool system_fences(void) { return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0; }

bool tether_prove_fence(void) {
#if defined(__ANDROID__)
    // Below Android 10 the system ends an app that calls membarrier.
    if (android_get_device_api_level() < 29) return false;
#endif
    // A system without the command refuses the registration.
    return !tether_environment_variable("TETHER_WITHOUT_MEMBARRIER") &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 && system_fences();
}
#else
// Other threads fence themselves, or need no fence.
static bool system_fences(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); return true; }
bool tether_prove_fence(void) { return false; }
#endif

bool tether_fence_all_threads(void) {
    if (!tether_posters_fence()) return system_fences();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return true;
}

// Before the program's first line, so no thread has posted without a fence.
__attribute__((constructor)) static void prepare_fence(void) {
    if (tether_prove_fence()) __atomic_store_n(&tether_awaited, 0, __ATOMIC_SEQ_CST);
}
