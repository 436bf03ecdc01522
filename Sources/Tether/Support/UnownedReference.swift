internal import COwnerLifetime

/// A reference to an object of a Swift class that neither keeps it alive nor lets its address be reused.
///
/// It is the runtime's *unowned* reference, taken for a moment with `take()`. Unlike a weak reference it gives the
/// object no side table, so the object's own retains stay fast, and a `take()` costs one atomic operation.
///
/// SAFETY: the address stays that of this one object, alive or dead, from `init` to `deinit`, because the unowned
/// count that `init` adds keeps the memory; the counts are atomic, so any thread may hold and take it.
@safe struct UnownedReference<Object: AnyObject>: ~Copyable, @unchecked Sendable {
    private let address: UnsafeMutableRawPointer

    /// Refers to an object; `nil` if the object is being deinitialised.
    init?(_ object: Object) {
        // SAFETY: the caller holds the object for the call.
        let address = unsafe Unmanaged.passUnretained(object).toOpaque()
        guard unsafe !tether_has_ended(address) else { return nil }
        unsafe tether_unowned_retain(address)
        unsafe self.address = address
    }

    deinit {
        // SAFETY: pairs with the unowned retain in `init`.
        unsafe tether_unowned_release(address)
    }

    /// The object, held, or `nil` from the moment its last strong reference has gone.
    @inline(__always)
    func take() -> Object? { unsafe take(as: Object.self) }

    /// The object as an instance of the class that it is known to be, held; a downcast would retain it once more.
    @inline(__always)
    @unsafe func take<Known: AnyObject>(as type: Known.Type) -> Known? {
        // SAFETY: the memory is kept by our unowned count; a retain that succeeded is handed to the caller.
        guard unsafe tether_try_retain(address) else { return nil }
        return unsafe Unmanaged<Known>.fromOpaque(address).takeRetainedValue()
    }

    /// Whether the object's last strong reference has gone; it is not retained to find out.
    var hasEnded: Bool {
        // SAFETY: the memory is kept by our unowned count.
        unsafe tether_has_ended(address)
    }

    /// Whether `hasEnded` never makes the one who asks the last to let go of the object.
    static var asksWithoutHolding: Bool { true }

    /// The number of strong references, or `nil` once the last one has gone; the object is not retained to find out.
    func strongCount() -> Int? {
        // SAFETY: the memory is kept by our unowned count.
        hasEnded ? nil : unsafe tether_strong_count(address)
    }

    /// The number of unowned references, ours and the one that all strong references share included.
    var unownedCount: Int {
        // SAFETY: the memory is kept by our unowned count.
        unsafe tether_unowned_count(address)
    }

    /// The object's address, to be read through only for what is known to stay when the object has gone.
    var rawAddress: UnsafeMutableRawPointer { unsafe address }
}
