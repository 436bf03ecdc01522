// The Swift runtime's (stdlib/public/runtime), and what the parts of this one have in common.
#include <stdbool.h>
#include <stddef.h>

extern void *swift_retain(void *object);
extern void swift_release(void *object);
extern bool swift_isDeallocating(void *object);

// Leaves a reference that is to be released to the calling thread's innermost pool.
void runtime_autorelease(void *object);
