#if canImport(ObjectiveC)
internal import ObjectiveC
#else
internal import COwnerLifetime
internal import Synchronization
#endif

/// How exactly Tether sees the end of an owner.
///
/// Where Tether can watch a class's deallocation, observers of an instance end *before* the first
/// line of the instance's `deinit` runs, or on Apple platforms after the last. On Linux the
/// *deallocator hook* replaces the deallocating function in the class's metadata. The hook calls
/// Tether, then the original function. On Apple platforms an associated object calls Tether, at the
/// end of the deallocation. Where neither works, observers of deallocated owners still never run,
/// and end at the next post.
///
/// The observers of a sender end after the sender's `deinit`; if the `deinit` is postponed, with
/// the last reference.
public enum OwnerLifetime {
    /// Whether Tether sees the ends of owners at once, in this process.
    ///
    /// Tether finds out by watching the end of a private object, once. Complexity: O(1).
    public static var isExact: Bool { isProven }
    private static let isProven = prove()

    /// Whether Tether sees the end of an instance of exactly this class at once.
    ///
    /// Installs the watch if the class has none. Each subclass has its own answer. Complexity:
    /// O(1); a lock, the first time for each class. Any thread.
    public static func isExact(for type: AnyClass) -> Bool { isExact && install(on: type) }

    /// The callbacks for the ends of watched objects. The thread of each end calls them.
    /// SAFETY: plain functions, which stay as long as the process.
    @safe struct Listener: Sendable {
        /// Called before an object's `deinit`, or on Apple platforms after it. The result is passed
        /// to `didEnd`; after `nil`, `didEnd` is not called.
        let willEnd: @convention(c) (_ object: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?
        /// Called after the deallocating function has returned, or on Apple platforms at once after
        /// `willEnd`.
        let didEnd: @convention(c) (_ context: UnsafeMutableRawPointer) -> Void
    }
}

// MARK: The deallocator hook

#if !canImport(ObjectiveC)

// The hook (COwnerLifetime/DeallocatorHook.c) replaces the word with the address of the
// deallocating function in the metadata of each class with owners or senders. An object without
// unowned references has the count 1, and the hook calls the original function at once. A record of
// the object table has an unowned reference to its object, so an owner has a higher count. Then the
// hook calls the listener, the original function, and the listener once more.

extension OwnerLifetime {
    /// Makes writers of metadata exclusive. The value is not used.
    private static let installing = Locked(true)

    static func install(on type: AnyClass) -> Bool {
        // SAFETY: a class's metatype is the address of its metadata.
        let metadata = unsafe unsafeBitCast(type, to: UnsafeMutableRawPointer.self)
        // SAFETY: the lock makes writers exclusive.
        return unsafe tether_hook_is_installed(metadata)
            || installing.withLock { _ in unsafe tether_hook_install(metadata) }
    }

    /// Begins to watch an object. The record's unowned reference is all that the hook needs.
    static func watch(_ object: AnyObject) {}

    /// Sets the listener, after the proof has used a listener of its own.
    static func listen(_ listener: Listener) {
        _ = isExact
        unsafe tether_hook_set_callbacks(listener.willEnd, listener.didEnd)
    }

    /// Whether the hook works: Tether has seen one call for a private object, before the object's
    /// `deinit`.
    private static func prove() -> Bool {
        // SAFETY: the callbacks are plain functions, which live as long as the process.
        unsafe tether_hook_set_callbacks(
            { _ in
                Canary.step(from: 0)
                return nil
            }, { _ in })
        guard install(on: Canary.self) else { return false }
        // SAFETY: the only strong reference, released below.
        let canary = unsafe Unmanaged.passRetained(Canary())
        let reference = unsafe canary._withUnsafeGuaranteedRef { Unowned($0) }
        unsafe canary.release()
        withExtendedLifetime(reference) {}
        return Canary.steps.load(ordering: .relaxed) == 2
    }
}

/// The only object of a hooked class at the proof of the hook: the callback must come first, the
/// `deinit` second.
private final class Canary {
    static let steps = Atomic<Int>(0)

    static func step(from known: Int) {
        _ = steps.compareExchange(expected: known, desired: known + 1, ordering: .relaxed)
    }

    deinit { Canary.step(from: 1) }
}

#else

// MARK: Associated objects

extension OwnerLifetime {
    /// The Objective-C runtime releases the associated objects of every deallocated object.
    private static func prove() -> Bool { true }

    static func install(on type: AnyClass) -> Bool { true }

    fileprivate static let listener = Locked<Listener?>(nil)

    static func listen(_ new: Listener) { listener.withLock { $0 = new } }

    /// Begins to watch an object. The caller retains the object.
    static func watch(_ object: AnyObject) {
        // The sentinel stays until its object ends, and may find no record. A replacement would
        // take the table's lock. An atomic policy would autorelease the sentinel at each read, so
        // the sentinel could outlive its object.
        // SAFETY: the key is an address and is only compared; the association retains its value.
        if unsafe objc_getAssociatedObject(object, Sentinel.key) == nil {
            unsafe objc_setAssociatedObject(
                object, Sentinel.key, Sentinel(object), .OBJC_ASSOCIATION_RETAIN_NONATOMIC)
        }
    }
}

/// Lives exactly as long as its associated object: `deinit` runs after the body of the object's
/// `deinit`, and before the object's memory is freed (O3).
@safe private final class Sentinel {
    /// The key of the association: the address of this class.
    static var key: UnsafeRawPointer {
        // SAFETY: a class's metatype is the address of its metadata; the address is only compared.
        unsafe unsafeBitCast(Sentinel.self as AnyClass, to: UnsafeRawPointer.self)
    }

    private let address: UnsafeMutableRawPointer

    init(_ object: AnyObject) {
        // SAFETY: the address is a key and is not read through; the record is removed with the
        // object.
        unsafe address = unsafe Unmanaged.passUnretained(object).toOpaque()
    }

    deinit {
        // SAFETY: the address is only a key; the object's memory still exists.
        if let listener = OwnerLifetime.listener.withLock(\.self),
            let context = unsafe listener.willEnd(address)
        {
            unsafe listener.didEnd(context)
        }
    }
}

#endif
