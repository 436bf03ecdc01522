#include "ObjectiveCRuntime.h"

#include <pthread.h>
#include <stdlib.h>

#include "Runtime.h"

// The objects in a thread's pools, the outermost pool first. The outermost has no `pop`: it ends
// with the thread.
typedef struct {
    long count, capacity;
    void *objects[];
} pools;

static _Thread_local pools *current;
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

static void thread_exits(void *unused) {
    (void)unused;
    runtime_pop_pool(0);
    free(current);
    current = NULL;
}

static void make_exit_key(void) { pthread_key_create(&exit_key, thread_exits); }

void runtime_autorelease(void *object) {
    if (!current || current->count == current->capacity) {
        long capacity = current ? current->capacity * 2 : 16;
        pools *larger = realloc(current, sizeof(pools) + (size_t)capacity * sizeof(void *));
        if (!current) larger->count = 0;
        larger->capacity = capacity;
        current = larger;
        pthread_once(&exit_key_once, make_exit_key);
        pthread_setspecific(exit_key, current);
    }
    current->objects[current->count++] = object;
}

long runtime_push_pool(void) { return current ? current->count : 0; }

void runtime_pop_pool(long pool) {
    while (current && current->count > pool) swift_release(current->objects[--current->count]);
}
