#if canImport(ObjectiveC)

internal import COwnerLifetime
internal import Dispatch
internal import ObjectiveC

/// A reference that does not keep its object alive, where objects may be Objective-C's: a weak one.
///
/// SAFETY: `object` is only written by `init`; loading a weak reference is atomic.
@safe struct OwnerReference<Object: AnyObject>: ~Copyable, @unchecked Sendable {
    private weak var object: Object?
    private let address: UnsafeMutableRawPointer

    /// Refers to an object; `nil` if the object is being deinitialised.
    init?(_ object: Object) {
        guard !isBeingDeinitialised(object) else { return nil }
        // SAFETY: an address to compare, which is not read through.
        unsafe self.address = unsafe Unmanaged.passUnretained(object).toOpaque()
        self.object = object
    }

    /// The object, held, or `nil` once it is being deinitialised.
    func take() -> Object? { object }

    /// The object as an instance of the class that it is known to be, held.
    @unsafe func take<Known: AnyObject>(as type: Known.Type) -> Known? {
        object.map { unsafe unsafeDowncast($0, to: type) }
    }

    /// Whether the object is being deinitialised, or has gone.
    var hasEnded: Bool { object == nil }

    /// A weak reference is loaded to be asked, so the one who asks may be the last to let go of the object.
    static var asksWithoutHolding: Bool { false }

    /// The number of strong references, or `nil` once the last one has gone. The one that is taken to count them is let
    /// go on the main queue, because the object may be one that must end there.
    func strongCount() -> Int? {
        // SAFETY: the retain is given back below; the load's own is over by then, so it is not the last one.
        guard let held = unsafe (object.map { unsafe Unmanaged.passRetained($0) }) else { return nil }
        let count = unsafe tether_strong_count(held.toOpaque()) - 1
        nonisolated(unsafe) let last = unsafe held
        DispatchQueue.main.async { unsafe last.release() }
        return count
    }

    /// Unowned counts are not to be had for Objective-C objects.
    var unownedCount: Int { 1 }

    /// The object's address, never to be read through.
    var rawAddress: UnsafeMutableRawPointer { unsafe address }
}

/// Whether an object's last strong reference has gone, so that it must not be kept (X3).
func isBeingDeinitialised(_ object: AnyObject) -> Bool {
    // SAFETY: the name is a literal.
    let selector = unsafe sel_registerName("allowsWeakReference")
    guard let type = object_getClass(object), let method = unsafe class_getMethodImplementation(type, selector) else {
        return false
    }
    typealias AllowsWeakReference = @convention(c) (UnsafeMutableRawPointer, Selector) -> Bool
    // SAFETY: `allowsWeakReference` takes no arguments and returns BOOL, on every class; the runtime asks it itself
    // before it forms a weak reference. The caller holds the object for the call.
    let address = unsafe Unmanaged.passUnretained(object).toOpaque()
    return unsafe !unsafeBitCast(method, to: AllowsWeakReference.self)(address, selector)
}

#endif
