internal import COwnerLifetime

#if canImport(ObjectiveC)
internal import Dispatch
internal import ObjectiveC
#endif

// Tether refers to an object without retaining it in one of two ways.
//
// | Reference | The object | Used for |
// |---|---|---|
// | `Unowned`, `OwnerReference` | may be deallocated at any moment; `take()` retains it, or finds that | tokens, lists, owners, senders |
// | `Unmanaged` | cannot be deallocated: an epoch guard, a lock or another object keeps it | what a post reads, the lists of tables |
//
// `Unowned` is the Swift runtime's *unowned* reference. Unlike a weak reference it gives the object no side table, so the
// object's own retains stay fast. The runtime keeps the object's memory, but not the object, while such a reference exists. So
// its address is never that of another object. Making, copying or destroying one costs an atomic operation, and so does `take()`.
//
// `OwnerReference` is for objects of the program. Over the Objective-C runtime such an object may not be Swift's, and then the
// reference is a weak one. Everywhere else it is `Unowned`.

/// A reference to an object of a Swift class that neither retains the object nor lets its address be used again.
///
/// SAFETY: the counts are atomic, so any thread may copy and take it.
struct Unowned<Object: AnyObject>: @unchecked Sendable {
    private unowned let object: Object

    /// Refers to an object. One that is being deinitialised is never taken.
    @inline(__always)
    init(_ object: Object) { self.object = object }

    /// The object's address, to be compared.
    @inline(__always)
    var address: UInt { unsafe UInt(bitPattern: pointer) }

    @inline(__always)
    private var pointer: UnsafeMutableRawPointer {
        // SAFETY: the reference to an object of a Swift class is its address; the cast checks the size.
        unsafe unsafeBitCast(self, to: UnsafeMutableRawPointer.self)
    }

    /// The object, retained; `nil` once its last strong reference was released.
    @inline(__always)
    func take() -> Object? {
        // SAFETY: this reference keeps the memory; a retain that succeeded is passed to the caller.
        guard unsafe tether_try_retain(pointer) else { return nil }
        return unsafe Unmanaged<Object>.fromOpaque(pointer).takeRetainedValue()
    }

    /// Whether the object's last strong reference was released. The object is not retained for it.
    var hasEnded: Bool {
        // SAFETY: this reference keeps the memory.
        unsafe tether_has_ended(pointer)
    }

    /// Whether `hasEnded` never releases the last reference to the object.
    static var asksWithoutHolding: Bool { true }

    /// The number of strong references; `nil` once the last one was released. The object is not retained for it.
    func strongCount() -> Int? {
        // SAFETY: this reference keeps the memory.
        hasEnded ? nil : unsafe tether_strong_count(pointer)
    }

    /// The number of unowned references to an object, to which the caller has one. All strong references together count as one.
    static func unownedCount(at address: UInt) -> Int {
        // SAFETY: the caller's reference keeps the memory.
        unsafe tether_unowned_count(UnsafeMutableRawPointer(bitPattern: address)!)
    }
}

#if canImport(ObjectiveC)

/// A weak reference, because an object of the program may be Objective-C's.
///
/// SAFETY: `object` is only written by `init`; loading a weak reference is atomic.
@safe struct OwnerReference<Object: AnyObject>: @unchecked Sendable {
    private weak var object: Object?
    /// Only compared.
    let address: UInt

    /// Refers to an object. One that is being deinitialised is never taken.
    init(_ object: Object) {
        address = UInt(bitPattern: ObjectIdentifier(object))
        // The runtime ends a process that makes a weak reference to an object which is being deinitialised.
        if !isBeingDeinitialised(object) { self.object = object }
    }

    func take() -> Object? { object }

    var hasEnded: Bool { object == nil }

    /// A weak reference is loaded for it, and this load may then be the last to hold the object.
    static var asksWithoutHolding: Bool { false }

    /// The reference that is taken to count is released on the main queue, because the object may be one that must end there.
    func strongCount() -> Int? {
        // SAFETY: the retain is given back below; the load's own is over by then, so it is not the last one.
        guard let held = unsafe (object.map { unsafe Unmanaged.passRetained($0) }) else { return nil }
        let count = unsafe tether_strong_count(held.toOpaque()) - 1
        nonisolated(unsafe) let last = unsafe held
        DispatchQueue.main.async { unsafe last.release() }
        return count
    }

    /// An object of Objective-C's has no such count.
    static func unownedCount(at address: UInt) -> Int { 1 }
}

/// Whether an object's last strong reference was released, so that it must not be retained for later (X3).
func isBeingDeinitialised(_ object: AnyObject) -> Bool {
    // SAFETY: the name is a literal.
    let selector = unsafe sel_registerName("allowsWeakReference")
    guard let type = object_getClass(object), let method = unsafe class_getMethodImplementation(type, selector) else {
        return false
    }
    typealias AllowsWeakReference = @convention(c) (UnsafeMutableRawPointer, Selector) -> Bool
    // SAFETY: `allowsWeakReference` takes no arguments and returns BOOL, on every class. The runtime itself calls it before it
    // makes a weak reference. The caller holds the object for the call.
    let address = unsafe Unmanaged.passUnretained(object).toOpaque()
    return unsafe !unsafeBitCast(method, to: AllowsWeakReference.self)(address, selector)
}

#else

typealias OwnerReference = Unowned

/// Whether an object's last strong reference was released, so that it must not be retained for later (X3).
func isBeingDeinitialised(_ object: AnyObject) -> Bool {
    // SAFETY: the caller holds the object's memory for the call.
    unsafe tether_has_ended(Unmanaged.passUnretained(object).toOpaque())
}

#endif
