#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE // pthread_setname_np
#endif

#include "COwnerLifetime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

_Thread_local void *tether_current_record;
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;
static void (*_Atomic exit_function)(void *);

static _Thread_local bool is_exiting;

static void thread_exits(void *record) {
    is_exiting = true;
    tether_current_record = NULL;
    atomic_load_explicit(&exit_function, memory_order_acquire)(record);
}

static void make_exit_key(void) { pthread_key_create(&exit_key, thread_exits); }

void tether_set_thread_record(void *record, void (*on_exit)(void *)) {
    // Every caller passes the same function.
    atomic_store_explicit(&exit_function, on_exit, memory_order_release);
    pthread_once(&exit_key_once, make_exit_key);
    tether_current_record = record;
    pthread_setspecific(exit_key, record);
}

bool tether_thread_is_exiting(void) { return is_exiting; }

void tether_end_thread_record(void) {
    void *record = tether_current_record;
    if (!record) return;
    pthread_setspecific(exit_key, NULL);
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

static bool fence_is_ready;
long tether_attention;

__attribute__((constructor)) static void prepare_fence(void) {
#if defined(__linux__) && defined(SYS_membarrier)
    long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    fence_is_ready = commands >= 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) &&
                     syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#endif
    tether_attention = !fence_is_ready;
}

bool tether_can_fence_all_threads(void) { return fence_is_ready; }

void tether_fence_all_threads(void) {
#if defined(__linux__) && defined(SYS_membarrier)
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
#endif
}

// Who waits keeps its place, so that one who looks meanwhile does not miss it.
#define PLACES 16
static uintptr_t waited_for[PLACES];
static long without_place;

bool tether_is_waited_for(uintptr_t registration) {
    if (!registration) return false;
    if (__atomic_load_n(&without_place, __ATOMIC_RELAXED)) return true;
    for (int i = 0; i < PLACES; i++) {
        if (__atomic_load_n(&waited_for[i], __ATOMIC_RELAXED) == registration) return true;
    }
    return false;
}

int tether_begin_waiting(uintptr_t registration) {
    int place = 0;
    while (place < PLACES && waited_for[place]) place++;
    if (place < PLACES) {
        __atomic_store_n(&waited_for[place], registration, __ATOMIC_SEQ_CST);
    } else {
        __atomic_fetch_add(&without_place, 1, __ATOMIC_SEQ_CST);
    }
    __atomic_fetch_add(&tether_attention, 1, __ATOMIC_SEQ_CST);
    return place;
}

void tether_end_waiting(int place) {
    __atomic_fetch_sub(&tether_attention, 1, __ATOMIC_SEQ_CST);
    if (place < PLACES) {
        __atomic_store_n(&waited_for[place], 0, __ATOMIC_SEQ_CST);
    } else {
        __atomic_fetch_sub(&without_place, 1, __ATOMIC_SEQ_CST);
    }
}
