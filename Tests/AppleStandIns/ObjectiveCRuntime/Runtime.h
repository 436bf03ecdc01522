// The Swift runtime's functions (stdlib/public/runtime), and the declarations that the parts of
// this runtime share.
#include <stdbool.h>
#include <stddef.h>

extern void *swift_retain(void *object);
extern void swift_release(void *object);
extern bool swift_isDeallocating(void *object);

// Leaves a reference that is to be released to the calling thread's innermost pool.
void runtime_autorelease(void *object);
