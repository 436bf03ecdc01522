#include "ObjectiveCRuntime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "Runtime.h"

// Copies of the registered names, because a caller may free its string after the call.
typedef struct name {
    struct name *next;
    char text[];
} name;

static name *names;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct runtime_selector runtime_register_name(const char *text) {
    pthread_mutex_lock(&lock);
    name *known = names;
    while (known && strcmp(known->text, text) != 0) known = known->next;
    if (!known) {
        known = malloc(sizeof *known + strlen(text) + 1);
        known->next = names;
        strcpy(known->text, text);
        names = known;
    }
    pthread_mutex_unlock(&lock);
    return (struct runtime_selector){known->text};
}

// `-allowsWeakReference`, which every class has, with the result of NSObject and Swift's root
// class.
static bool allows_weak_reference(void *object, struct runtime_selector selector) {
    (void)selector;
    return !swift_isDeallocating(object);
}

runtime_method runtime_find_method(struct runtime_selector selector) {
    return strcmp(selector.name, "allowsWeakReference") == 0 ? (runtime_method)allows_weak_reference : NULL;
}
