#if canImport(ObjectiveC)

internal import ObjectiveC

extension OwnerLifetime {
    /// The Objective-C runtime releases associated objects of every object that ends.
    static let isProven = true

    static func install(on type: AnyClass) -> Bool { true }

    fileprivate static let listener = Guarded<Listener?>(nil)

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
/// memory goes (O3).
@safe private final class Sentinel {
    /// The key of the association: the address of this class.
    static var key: UnsafeRawPointer {
        // SAFETY: a class's metatype is the address of its metadata, which is only compared.
        unsafe unsafeBitCast(Sentinel.self as AnyClass, to: UnsafeRawPointer.self)
    }

    private let address: UnsafeMutableRawPointer

    init(_ object: AnyObject) {
        // SAFETY: an address, which is a key and is not read through; the record goes with the object.
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
