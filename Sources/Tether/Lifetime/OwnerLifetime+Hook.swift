#if !canImport(ObjectiveC)

internal import COwnerLifetime
internal import Synchronization

// The deallocator hook (COwnerLifetime/DeallocatorHook.c). A class's metadata has a word with the address of the function that
// deallocates an instance. The hook replaces that word in the metadata of each class that has owners or senders. The hook
// asks for the object's count of unowned references. It is 1 for an object without unowned references, and then the hook
// calls the original function at once. A record of the owner table has an unowned reference to its object, so the count of an
// owner is higher. Then the hook calls the listener, the original function, and the listener once more.

extension OwnerLifetime {
    /// The listener. The lock also makes writers of metadata exclusive.
    private static let listener = Guarded<Listener?>(nil)
    private static let hasProof = Atomic<Bool>(false)

    /// Puts the hook into a class's metadata; false where it cannot be written.
    static func install(on type: AnyClass) -> Bool {
        // SAFETY: a class's metatype is the address of its metadata.
        let metadata = unsafe unsafeBitCast(type, to: UnsafeMutableRawPointer.self)
        // SAFETY: the lock makes writers exclusive.
        return unsafe tether_hook_is_installed(metadata)
            || listener.withLock { _ in unsafe tether_hook_install(metadata) }
    }

    /// Begins to watch an object. The hook needs nothing but the record's unowned reference.
    static func watch(_ object: AnyObject) {}

    /// Sets the listener.
    static func listen(_ new: Listener) {
        listener.withLock { listener in
            listener = new
            if hasProof.load(ordering: .relaxed) { unsafe tether_hook_set_callbacks(new.willEnd, new.didEnd) }
        }
    }

    /// Whether the hook was seen to work: called once for a private object, before that object's `deinit`.
    ///
    /// A refusal is not kept: memory that was missing may be there the next time.
    static var isProven: Bool {
        hasProof.load(ordering: .acquiring)
            || listener.withLock { listener in
                if !hasProof.load(ordering: .relaxed), prove() {
                    if let listener { unsafe tether_hook_set_callbacks(listener.willEnd, listener.didEnd) }
                    hasProof.store(true, ordering: .releasing)
                }
                return hasProof.load(ordering: .relaxed)
            }
    }

    /// Tries the hook on a private object, under the lock.
    private static func prove() -> Bool {
        // SAFETY: the callbacks are plain functions that live as long as the process.
        unsafe tether_hook_set_callbacks({ object in unsafe Canary.willEnd(object) }, { _ in })
        // SAFETY: a class's metatype is the address of its metadata.
        guard unsafe tether_hook_install(unsafeBitCast(Canary.self, to: UnsafeMutableRawPointer.self)) else {
            return false
        }
        Canary.order.store(0, ordering: .relaxed)
        // SAFETY: the only strong reference, released below. The unowned one keeps the memory until the end.
        let canary = unsafe Unmanaged.passRetained(Canary())
        let address = unsafe canary.toOpaque()
        Canary.address.store(UInt(bitPattern: address), ordering: .relaxed)
        unsafe tether_unowned_retain(address)
        unsafe canary.release()
        unsafe tether_unowned_release(address)
        return Canary.order.load(ordering: .relaxed) == 2
    }
}

/// The private object that proves the hook: the callback must come first, the `deinit` second.
private final class Canary {
    static let address = Atomic<UInt>(0)
    static let order = Atomic<Int>(0)

    static func willEnd(_ object: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        if UInt(bitPattern: object) == address.load(ordering: .relaxed) {
            _ = order.compareExchange(expected: 0, desired: 1, ordering: .relaxed)
        }
        return nil
    }

    deinit { _ = Canary.order.compareExchange(expected: 1, desired: 2, ordering: .relaxed) }
}

#endif
