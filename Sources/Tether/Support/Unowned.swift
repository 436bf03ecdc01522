internal import COwnerLifetime

#if canImport(ObjectiveC)
internal import Dispatch
internal import ObjectiveC
#endif

// Tether refers to an object without retaining the object in one of two ways.
//
// | Reference | The object | Used for |
// |---|---|---|
// | `Unowned`, `ObjectReference` | may be deallocated: see `retained` | tokens, lists, owners, senders |
// | `Unmanaged` | is kept by an epoch guard, a lock or an object | objects read by a post, lists of tables |
//
// `Unowned` is the Swift runtime's *unowned* reference. Unlike a weak reference it gives the object
// no side table, so the object's own retains stay fast. The reference keeps the object's memory,
// but not the object, so no other object gets the address. Making, copying or destroying the
// reference costs an atomic operation; so does `retained`.
//
// `ObjectReference` is for objects of the program. With the Objective-C runtime such an object may
// not be Swift's, so the reference is weak there. On other systems the reference is `Unowned`.

/// A reference to an object of a Swift class. The reference does not retain the object, but
/// reserves the address.
/// SAFETY: the runtime's counts are atomic, so any thread may copy the reference and call
/// `retained`.
struct Unowned<Object: AnyObject>: @unchecked Sendable {
    private unowned let object: Object

    /// Refers to an object. If the object is being deinitialised, `retained` always returns `nil`.
    @inline(__always)
    init(_ object: Object) { self.object = object }

    @inline(__always)
    var address: UInt { unsafe UInt(bitPattern: pointer) }

    @inline(__always)
    var pointer: UnsafeMutableRawPointer {
        // SAFETY: the reference to an object of a Swift class is its address; the cast checks the
        // size.
        unsafe unsafeBitCast(self, to: UnsafeMutableRawPointer.self)
    }

    /// The object, not retained.
    var unmanaged: Unmanaged<Object> { unsafe .fromOpaque(pointer) }

    /// The object, retained; `nil` after the release of its last strong reference.
    @inline(__always)
    var retained: Object? {
        Interleaving.pass(.step)
        // SAFETY: this reference keeps the memory; a successful retain is passed to the caller.
        return unsafe tether_try_retain(pointer) ? unmanaged.takeRetainedValue() : nil
    }

    /// Whether the object's last strong reference was released. Does not retain the object.
    var hasEnded: Bool {
        // SAFETY: the reference keeps the memory.
        unsafe tether_has_ended(pointer)
    }

    /// Whether `hasEnded` never releases the last reference to the object.
    static var asksWithoutHolding: Bool { true }

    /// The number of strong references; `nil` after the release of the last. Does not retain the
    /// object.
    func strongCount() -> Int? {
        // SAFETY: the reference keeps the memory.
        hasEnded ? nil : unsafe tether_strong_count(pointer)
    }
}

#if canImport(ObjectiveC)

/// SAFETY: `object` is only written by `init`; loading a weak reference is atomic.
@safe struct ObjectReference<Object: AnyObject>: @unchecked Sendable {
    private weak var object: Object?
    /// Only compared.
    let address: UInt

    init(_ object: Object) {
        address = UInt(bitPattern: ObjectIdentifier(object))
        // The runtime ends a process that makes a weak reference to an object during its
        // deinitialisation. Both steps call a method of the object's class, so no lock may be held
        // (R6).
        if !isBeingDeinitialised(object) { self.object = object }
    }

    var retained: Object? { object }
    var hasEnded: Bool { object == nil }

    /// `hasEnded` loads the weak reference, and the loaded reference may then be the object's last.
    static var asksWithoutHolding: Bool { false }

    /// The counting reference is released on the main queue, because the object may have to be
    /// deallocated there.
    func strongCount() -> Int? {
        // SAFETY: the main queue releases this retain below, after the end of the load's reference.
        guard let held = unsafe (object.map { unsafe Unmanaged.passRetained($0) }) else {
            return nil
        }
        let count = unsafe tether_strong_count(held.toOpaque()) - 1
        nonisolated(unsafe) let last = unsafe held
        DispatchQueue.main.async { unsafe last.release() }
        return count
    }
}

/// SAFETY: the name is a literal; a selector is the address of a name that the runtime keeps.
nonisolated(unsafe) private let allowsWeakReference = unsafe sel_registerName("allowsWeakReference")

/// Whether an object's last strong reference was released. Such an object must not be retained for
/// later (X3). Calls a method of the object's class, so no lock may be held (R6).
func isBeingDeinitialised(_ object: AnyObject) -> Bool {
    let selector = unsafe allowsWeakReference
    guard let type = object_getClass(object),
        let method = unsafe class_getMethodImplementation(type, selector)
    else {
        return false
    }
    typealias AllowsWeakReference = @convention(c) (UnsafeMutableRawPointer, Selector) -> Bool
    // SAFETY: every class has `allowsWeakReference`, without arguments and with a BOOL result; the
    // runtime calls the method before making a weak reference. The caller retains the object for
    // the call.
    let address = unsafe Unmanaged.passUnretained(object).toOpaque()
    return unsafe !unsafeBitCast(method, to: AllowsWeakReference.self)(address, selector)
}

#else

typealias ObjectReference = Unowned

func isBeingDeinitialised(_ object: AnyObject) -> Bool {
    // SAFETY: the caller holds the object's memory for the call.
    unsafe tether_has_ended(Unmanaged.passUnretained(object).toOpaque())
}

#endif
