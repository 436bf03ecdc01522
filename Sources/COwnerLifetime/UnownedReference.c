#include "COwnerLifetime.h"

// The Swift runtime's, stable ABI (stdlib/public/SwiftShims and Runtime/HeapObject.h).
extern void *swift_unownedRetain(void *object);
extern void swift_unownedRelease(void *object);
extern size_t swift_unownedRetainCount(void *object);
extern size_t swift_retainCount(void *object);
extern bool swift_isDeallocating(void *object);

void tether_unowned_retain(void *object) { swift_unownedRetain(object); }
void tether_unowned_release(void *object) { swift_unownedRelease(object); }
size_t tether_unowned_count(void *object) { return swift_unownedRetainCount(object); }
size_t tether_strong_count(void *object) { return swift_retainCount(object); }
bool tether_has_ended(void *object) { return swift_isDeallocating(object); }
