#if !canImport(ObjectiveC)

internal import COwnerLifetime
internal import Synchronization

extension OwnerLifetime {
    private static let installation = Guarded(0)

    /// Puts the hook into a class's metadata; false where it cannot be written.
    static func install(on type: AnyClass) -> Bool {
        // SAFETY: a class's metatype is the address of its metadata.
        let metadata = unsafe unsafeBitCast(type, to: UnsafeMutableRawPointer.self)
        if unsafe tether_hook_is_installed(metadata) { return true }
        return unsafe install(in: metadata)
    }

    private static func install(in metadata: UnsafeMutableRawPointer) -> Bool {
        // SAFETY: the lock makes writers exclusive.
        installation.withLock { _ in unsafe tether_hook_install(metadata) }
    }

    /// Starts to watch for the end of an object that the caller holds, and whose class has the hook.
    static func watch(_ object: AnyObject) -> Bool {
        // SAFETY: the address is only hashed.
        unsafe tether_hook_mark(Unmanaged.passUnretained(object).toOpaque())
        return true
    }

    /// Ends one `watch`.
    static func unwatch(_ address: UnsafeMutableRawPointer) {
        // SAFETY: the address is only hashed.
        unsafe tether_hook_unmark(address)
    }

    private static let hasProof = Atomic<Bool>(false)
    private static let listener = Guarded<Listener?>(nil)

    /// Has ends told from now on.
    static func listen(_ new: Listener) {
        listener.withLock { listener in
            listener = new
            if hasProof.load(ordering: .relaxed) { unsafe tether_hook_set_callbacks(new.willEnd, new.didEnd) }
        }
    }

    /// Whether the hook was seen to work: called once for a private object, before that object's `deinit`.
    ///
    /// A refusal is not kept: what was missing, such as memory, may be there the next time.
    static var isProven: Bool {
        hasProof.load(ordering: .acquiring)
            || listener.withLock { listener in
                if !hasProof.load(ordering: .relaxed), prove() {
                    // Not covered: where nobody listens, the canary's callbacks stay.
                    if let listener { unsafe tether_hook_set_callbacks(listener.willEnd, listener.didEnd) }
                    hasProof.store(true, ordering: .releasing)
                }
                return hasProof.load(ordering: .relaxed)
            }
    }

    private static func prove() -> Bool {
        // SAFETY: the callbacks are plain functions that live as long as the process.
        // Not covered: the second callback, which is for senders, and the canary is none.
        unsafe tether_hook_set_callbacks(
            { object in unsafe Canary.willEnd(object) }, { _, _, _ in })
        // SAFETY: a class's metatype is the address of its metadata.
        guard unsafe install(in: unsafeBitCast(Canary.self, to: UnsafeMutableRawPointer.self)) else { return false }
        Canary.order.store(0, ordering: .relaxed)
        // SAFETY: the only reference, given back below.
        let canary = unsafe Unmanaged.passRetained(Canary())
        unsafe Canary.address.store(UInt(bitPattern: canary.toOpaque()), ordering: .relaxed)
        unsafe tether_hook_mark(canary.toOpaque())
        let address = unsafe canary.toOpaque()
        // SAFETY: gives back the only reference; `address` is only hashed from here on.
        unsafe canary.release()
        unsafe tether_hook_unmark(address)
        return Canary.order.load(ordering: .relaxed) == 2
    }
}

/// The private object that proves the hook: its end must be told first, its `deinit` must run second.
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
