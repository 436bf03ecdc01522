internal import Synchronization

/// A strong reference that is set once, by whoever comes first, and read without a lock.
///
/// The standard library's `AtomicLazyReference` says the same; in 6.3 its `load()` is not specialised and costs as much
/// as all the rest of a registration.
///
/// SAFETY: the address is that of an object which this holds one reference to, until `deinit`.
@safe struct LazyReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
    private let address = Atomic<UInt>(0)

    deinit {
        if let object = unsafe LazyReference.unmanaged(address.load(ordering: .acquiring)) { unsafe object.release() }
    }

    /// The object, if it has been set.
    @inline(__always)
    func load() -> Object? {
        guard let object = unsafe LazyReference.unmanaged(address.load(ordering: .acquiring)) else { return nil }
        return unsafe object.takeUnretainedValue()
    }

    /// Calls `body` with the object, if it has been set, without retaining it; the caller holds this.
    @inline(__always)
    func withLoaded(_ body: (Object) -> Void) {
        // Not covered: the return, because this is only used where it is known to be set.
        guard let object = unsafe LazyReference.unmanaged(address.load(ordering: .acquiring)) else { return }
        unsafe object._withUnsafeGuaranteedRef(body)
    }

    /// Sets the object, unless one has been set; returns the one that is set now.
    func storeIfNil(_ object: Object) -> Object {
        // SAFETY: what this retains is given back below, or in `deinit`.
        let made = unsafe Unmanaged.passRetained(object)
        let (exchanged, original) = address.compareExchange(
            expected: 0, desired: unsafe UInt(bitPattern: made.toOpaque()), ordering: .acquiringAndReleasing)
        if exchanged { return object }
        unsafe made.release()
        return unsafe LazyReference.unmanaged(original)!.takeUnretainedValue()
    }

    private static func unmanaged(_ address: UInt) -> Unmanaged<Object>? {
        guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
        // SAFETY: the address is 0 or that of an object which this holds.
        return unsafe Unmanaged.fromOpaque(pointer)
    }
}
