#if canImport(ObjectiveC)
internal import ObjectiveC
#else
internal import COwnerLifetime
internal import Synchronization
#endif

/// How exactly the end of an owner is seen.
///
/// Where a class's deallocation can be watched, observers of its instances end *before* the first line of the
/// instance's `deinit` runs (contract O3). On Linux that is done by the *deallocator hook*. It
/// replaces the word of the class's metadata that names its deallocating function. It calls Tether, then the original. On Apple platforms an associated object calls it. Where neither works, dead owners' observers
/// still never run; they are collected by the sweep (O10).
///
/// The observers of a sender end when its `deinit` has run. A `deinit` may be postponed: an `isolated` one that is sent to its
/// actor, or that of an actor that is kept until its job returns. Then they end when the last reference is released, and the
/// last posts of that sender may find no observer (M5).
public enum OwnerLifetime {
    /// Whether ends of owners are seen as they happen, in this process.
    ///
    /// Found out by watching the end of a private object, once that succeeds. Complexity: O(1).
    public static var isExact: Bool { isProven }

    /// Whether the end of an instance of exactly this class is seen as it happens.
    ///
    /// Puts the watch in place if it is not there yet. Subclasses answer for themselves.
    /// Complexity: O(1); a lock, the first time for each class. Any thread.
    /// - Parameter type: The class of the instances, not a superclass of it.
    public static func isExact(for type: AnyClass) -> Bool { isProven && install(on: type) }

    /// The callbacks about ends of watched objects, on the thread where each ends.
    ///
    /// SAFETY: plain functions that stay as long as the process.
    @safe struct Listener: Sendable {
        /// Called before an object's `deinit`. Its result is passed to `didEnd`; `nil` asks for no such call.
        let willEnd: @convention(c) (_ object: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?
        /// Called when the deallocating function has returned.
        let didEnd: @convention(c) (_ context: UnsafeMutableRawPointer) -> Void
    }
}

// MARK: The deallocator hook

#if !canImport(ObjectiveC)

// The deallocator hook (COwnerLifetime/DeallocatorHook.c). A class's metadata has a word with the address of the function that
// deallocates an instance. The hook replaces that word in the metadata of each class that has owners or senders. The hook
// asks for the object's count of unowned references. It is 1 for an object without unowned references, and then the hook
// calls the original function at once. A record of the owner table has an unowned reference to its object, so the count of an
// owner is higher. Then the hook calls the listener, the original function, and the listener once more.

extension OwnerLifetime {
    /// The listener. The lock also makes writers of metadata exclusive.
    private static let listener = Locked<Listener?>(nil)
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
        // SAFETY: the only strong reference, released below.
        let canary = unsafe Unmanaged.passRetained(Canary())
        let reference = unsafe canary._withUnsafeGuaranteedRef { Unowned($0) }
        Canary.address.store(reference.address, ordering: .relaxed)
        unsafe canary.release()
        withExtendedLifetime(reference) {}
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

// MARK: Associated objects

#if canImport(ObjectiveC)

extension OwnerLifetime {
    /// The Objective-C runtime releases associated objects of every object that ends.
    static let isProven = true

    static func install(on type: AnyClass) -> Bool { true }

    fileprivate static let listener = Locked<Listener?>(nil)

    /// Sets the listener.
    static func listen(_ new: Listener) { listener.withLock { $0 = new } }

    /// Begins to watch an object that the caller holds.
    static func watch(_ object: AnyObject) {
        // The sentinel stays until its object ends, and then may find no record. To replace it would take the table's lock. An atomic policy would
        // leave it in an autorelease pool when it is asked for, where it would outlive its object.
        // SAFETY: the key is an address that is only compared; the association holds its value strongly.
        if unsafe objc_getAssociatedObject(object, Sentinel.key) == nil {
            unsafe objc_setAssociatedObject(object, Sentinel.key, Sentinel(object), .OBJC_ASSOCIATION_RETAIN_NONATOMIC)
        }
    }
}

/// Lives exactly as long as the object it is associated with: after the body of that object's `deinit`, before its
/// memory is freed (O3).
@safe private final class Sentinel {
    /// The key of the association: the address of this class.
    static var key: UnsafeRawPointer {
        // SAFETY: a class's metatype is the address of its metadata, which is only compared.
        unsafe unsafeBitCast(Sentinel.self as AnyClass, to: UnsafeRawPointer.self)
    }

    private let address: UnsafeMutableRawPointer

    init(_ object: AnyObject) {
        // SAFETY: an address, which is a key and is not read through; the record is removed with the object.
        unsafe address = unsafe Unmanaged.passUnretained(object).toOpaque()
    }

    deinit {
        // SAFETY: the address is used as a key only; the object's memory is still there.
        guard let listener = OwnerLifetime.listener.withLock(\.self),
            let context = unsafe listener.willEnd(address)
        else {
            return
        }
        unsafe listener.didEnd(context)
    }
}

#endif
