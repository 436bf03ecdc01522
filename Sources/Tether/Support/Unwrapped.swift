/// The content of an `Any`, whatever optionals, existentials and `AnyHashable`s are around it (M4).
///
/// Everything that takes an `Any` asks here: senders, tokens and owners that are to be removed, objects that must not be
/// kept for later (X3), and what a posting queue coalesces on.
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

    /// The object that an `Any` holds with nothing around it.
    ///
    /// Read in place, because casts to and from `Any` take hundreds of nanoseconds.
    @inline(__always)
    static func storedObject(in value: Any) -> AnyObject? {
        // SAFETY: the pointer does not leave the closure; the value holds the object until it is retained.
        unsafe withUnsafePointer(to: value) { unsafe storedObject(at: $0)?.takeUnretainedValue() }
    }

    /// The object that the `Any` in a place holds with nothing around it, which holds it.
    @inline(__always)
    static func storedObject(at words: UnsafeRawPointer) -> Unmanaged<AnyObject>? {
        // SAFETY: an `Any` is three words of content and the address of its type's metadata, whose first word is the kind.
        // That is ABI; the compiler upholds it.
        let metadata = unsafe (words + 3 * MemoryLayout<UInt>.size).load(as: UnsafePointer<UInt>.self)
        guard isClass(kind: unsafe metadata.pointee) else { return nil }
        // SAFETY: the content of a class's `Any` begins with the reference; ABI, too.
        return unsafe words.load(as: Unmanaged<AnyObject>.self)
    }

    /// Whether the first word of a type's metadata, which the ABI fixes, is that of a class: Swift's, one with an Objective-C
    /// `isa` in place of the kind, one that was written in Objective-C, or one of Core Foundation's.
    @inline(__always)
    static func isClass(kind: UInt) -> Bool { kind == 0 || kind > 0x7FF || kind == 0x305 || kind == 0x203 }

    /// Whether the `Any?` in a place is `nil`.
    @inline(__always)
    static func isNothing(at words: UnsafeRawPointer) -> Bool {
        // SAFETY: as above; what has no content has no type.
        unsafe (words + 3 * MemoryLayout<UInt>.size).load(as: UInt.self) == 0
    }

    /// What stands for an `Any` without content: the `nil` of the innermost of the optionals around nothing.
    static func nothing(in value: Any) -> Any {
        if let optional = value as? any OptionalValue {
            return optional.wrapped.map(nothing) ?? type(of: optional).innermostNothing
        }
        // Any Hashable value can be cast to it.
        return type(of: value) == AnyHashable.self ? nothing(in: (value as? AnyHashable)?.base ?? value) : value
    }

    /// The content of an `Any` that holds no object directly.
    @inline(never)
    private static func searched(_ value: Any) -> Unwrapped {
        if let optional = value as? any OptionalValue {
            return optional.wrapped.map(Unwrapped.init) ?? .nothing
        }
        // Asked for here, because any Hashable value can be cast to it.
        let type = type(of: value)
        if type == AnyHashable.self, let hashable = value as? AnyHashable { return Unwrapped(hashable.base) }
        guard type is AnyClass else { return .value(value) }
        // An object that is an error may be in an error's box, from which a cast to `AnyObject` takes the box.
        if let error = value as? any Error, let object = storedObject(in: error) { return .object(object) }
        return .object(value as AnyObject)
    }
}

private protocol OptionalValue {
    var wrapped: Any? { get }
    static var innermostNothing: Any { get }
}

extension Optional: OptionalValue {
    var wrapped: Any? { self }
    static var innermostNothing: Any {
        (Wrapped.self as? any OptionalValue.Type)?.innermostNothing ?? Self.none as Any
    }
}
