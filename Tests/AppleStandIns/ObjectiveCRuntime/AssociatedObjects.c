#define _GNU_SOURCE // RTLD_NEXT

#include "ObjectiveCRuntime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "Runtime.h"

// libobjc's bits of a policy: how a value is stored, and how it is returned.
enum { SETTER_RETAINS = 1, GETTER_RETAINS = 1 << 8, GETTER_AUTORELEASES = 2 << 8 };

typedef struct association {
    struct association *next;
    void *object;
    const void *key;
    void *value;
    uintptr_t policy;
} association;

// Chains by object. An empty chain is seen without the lock, because most ending objects have no
// associations.
enum { CHAINS = 1 << 16 };
static _Atomic(association *) chains[CHAINS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_long count;

static _Atomic(association *) *chain_of(const void *object) {
    return &chains[((uint64_t)(uintptr_t)object * 0x9E3779B97F4A7C15u) >> 48];
}

// The place of the first association of an object, with a key if there is one; the lock is held.
static association **find(association **place, const void *object, const void *key) {
    while (*place && ((*place)->object != object || (key && (*place)->key != key))) place = &(*place)->next;
    return place;
}

static void release(association *association) {
    if (association->policy & SETTER_RETAINS) swift_release(association->value);
    free(association);
}

// Removes an association from its chain; the lock is held.
static association *take(_Atomic(association *) *chain, const void *object, const void *key) {
    association *first = atomic_load(chain), **place = find(&first, object, key), *taken = *place;
    if (!taken) return NULL;
    *place = taken->next;
    atomic_store(chain, first);
    atomic_fetch_sub(&count, 1);
    return taken;
}

void runtime_associate(void *object, const void *key, void *value, uintptr_t policy) {
    _Atomic(association *) *chain = chain_of(object);
    association *new = NULL;
    if (value) {
        if (policy & SETTER_RETAINS) swift_retain(value);
        new = malloc(sizeof *new);
        *new = (association){NULL, object, key, value, policy};
    }
    pthread_mutex_lock(&lock);
    association *old = take(chain, object, key);
    if (new) {
        new->next = atomic_load(chain);
        atomic_store(chain, new);
        atomic_fetch_add(&count, 1);
    }
    pthread_mutex_unlock(&lock);
    if (old) release(old);
}

void *runtime_associated(void *object, const void *key) {
    pthread_mutex_lock(&lock);
    association *first = atomic_load(chain_of(object)), *found = *find(&first, object, key);
    void *value = found ? found->value : NULL;
    uintptr_t policy = found ? found->policy : 0;
    if (policy & GETTER_RETAINS) swift_retain(value);
    pthread_mutex_unlock(&lock);
    if (policy & GETTER_AUTORELEASES) runtime_autorelease(value);
    return value;
}

long runtime_association_count(void) { return atomic_load(&count); }

// Replaces the Swift runtime's function, which has no associations on Linux. An Objective-C runtime
// releases an object's values here: after the body of the `deinit` and the fields, before the
// memory is freed.
void swift_deallocClassInstance(void *object, size_t size, size_t alignment_mask) {
    static void (*_Atomic original)(void *, size_t, size_t);
    _Atomic(association *) *chain = chain_of(object);
    while (atomic_load(chain)) {
        pthread_mutex_lock(&lock);
        association *taken = take(chain, object, NULL);
        pthread_mutex_unlock(&lock);
        if (!taken) break;
        release(taken);
    }
    if (!atomic_load(&original)) atomic_store(&original, (void (*)(void *, size_t, size_t))dlsym(RTLD_NEXT, __func__));
    atomic_load(&original)(object, size, alignment_mask);
}
