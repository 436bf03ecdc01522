// The Swift runtime's functions (stdlib/public/runtime), and the shared declarations of the
// simulated runtime.
#include <stdbool.h>
#include <stddef.h>

extern void *swift_retain(void *object);
extern void swift_release(void *object);
extern bool swift_isDeallocating(void *object);

// Adds a reference to the calling thread's innermost pool, which releases it.
void runtime_autorelease(void *object);
