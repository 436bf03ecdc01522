/// The content of an `Any`, without the optionals, existentials and `AnyHashable`s around the
/// content (M4).
///
/// Every function with an `Any` parameter uses this type: for senders, tokens and owners, for
/// objects not to be kept for later (X3), and for the coalescing of posting queues.
enum Unwrapped {
    /// An optional without content.
    case nothing
    case object(AnyObject)
    case value(Any)

    @inline(__always)
    init(_ value: Any) {
        if let object = Unwrapped.storedObject(in: value) {
            self = .object(object)
        } else {
            self = Unwrapped.searched(value)
        }
    }

    /// The object in an `Any` with nothing around the object.
    /// The object is read in place, because casts to and from `Any` take hundreds of nanoseconds.
    @inline(__always)
    static func storedObject(in value: Any) -> AnyObject? {
        // SAFETY: the pointer stays in the closure; the value retains the object until the caller
        // retains the object.
        unsafe withUnsafePointer(to: value) { unsafe storedObject(at: $0)?.takeUnretainedValue() }
    }

    /// Whether the content of the `Any` at an address may have something around it: an optional, an
    /// existential or an `AnyHashable`. One look at the type, so plain values cost no cast.
    @inline(__always)
    static func mayBeWrapped(at words: UnsafeRawPointer) -> Bool {
        // SAFETY: the layout of an `Any` and the kinds are ABI; the compiler upholds both.
        let type = unsafe (words + 3 * MemoryLayout<UInt>.size).load(as: UnsafePointer<UInt>.self)
        // An optional, an existential, and one with constraints.
        if unsafe [0x202, 0x303, 0x307].contains(type.pointee) { return true }
        return unsafe UnsafeRawPointer(type)
            == unsafeBitCast(AnyHashable.self as Any.Type, to: UnsafeRawPointer.self)
    }

    /// The object in the `Any` at an address, with nothing around the object. The `Any` retains the
    /// object.
    @inline(__always)
    static func storedObject(at words: UnsafeRawPointer) -> Unmanaged<AnyObject>? {
        // SAFETY: an `Any` is three words of content and the address of the type's metadata, whose
        // first word is the kind. The layout is ABI; the compiler upholds it.
        let kind = unsafe (words + 3 * MemoryLayout<UInt>.size).load(as: UnsafePointer<UInt>.self)
            .pointee
        // A class's kind: Swift's, with an Objective-C `isa` in its place, Objective-C's or Core
        // Foundation's; ABI, too.
        guard kind == 0 || kind > 0x7FF || kind == 0x305 || kind == 0x203 else { return nil }
        // SAFETY: the content of a class's `Any` begins with the reference; ABI, too.
        return unsafe words.load(as: Unmanaged<AnyObject>.self)
    }

    /// Whether the `Any?` at an address is `nil`.
    @inline(__always)
    static func isNothing(at words: UnsafeRawPointer) -> Bool {
        // SAFETY: the layout of an `Any` is ABI, and a `nil` has no type; the compiler upholds
        // both.
        unsafe (words + 3 * MemoryLayout<UInt>.size).load(as: UInt.self) == 0
    }

    /// The content of an `Any` that holds no object directly.
    @inline(never)
    private static func searched(_ value: Any) -> Unwrapped {
        if let optional = value as? any OptionalValue {
            return optional.wrapped.map(Unwrapped.init) ?? .nothing
        }
        // The type is compared, because any Hashable value can be cast to `AnyHashable`.
        let type = type(of: value)
        if type == AnyHashable.self, let hashable = value as? AnyHashable {
            return Unwrapped(hashable.base)
        }
        guard type is AnyClass else { return .value(value) }
        // An object with an `Error` conformance may be in an error's box. A cast to `AnyObject`
        // then returns the box.
        if let error = value as? any Error, let object = storedObject(in: error) {
            return .object(object)
        }
        return .object(value as AnyObject)
    }
}

private protocol OptionalValue { var wrapped: Any? { get } }

extension Optional: OptionalValue { var wrapped: Any? { self } }
