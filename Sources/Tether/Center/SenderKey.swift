/// What a post's sender is matched by (M4): a class instance by identity, a value by equality within its own type.
enum SenderKey: Hashable {
    case object(ObjectIdentifier)
    case value(ValueSender)

    init(_ object: AnyObject) { self = .object(ObjectIdentifier(object)) }

    /// The key of a sender as Foundation passes it; `nil` for a value that can match no observer.
    init?(any sender: Any) {
        if let object = SenderKey.instance(in: sender) {
            self.init(object)
        } else if let value = sender as? any Hashable {
            self = .value(ValueSender(value))
        } else {
            return nil
        }
    }

    /// The class instance that a value is, if it is one; a value type is not boxed.
    ///
    /// Read from the runtime's own forms, because casts to and from `Any` take hundreds of nanoseconds.
    @inline(__always)
    static func instance(in value: Any) -> AnyObject? {
        // SAFETY: a metatype is the address of a type's metadata, whose first word tells the kind: 0 is a class, and so
        // is everything above the last kind, where that word is an Objective-C class's. An `Any` with a class instance
        // in it begins with the reference. Both are ABI.
        let kind = unsafe unsafeBitCast(type(of: value), to: UnsafePointer<UInt>.self).pointee
        guard kind == 0 || kind > 0x7FF else { return nil }
        return unsafe withUnsafePointer(to: value) {
            unsafe UnsafeRawPointer($0).load(as: Unmanaged<AnyObject>.self).takeUnretainedValue()
        }
    }
}

/// A value as a sender, matched by equality within its own type.
///
/// SAFETY: the value is only compared and hashed; its `==` and `hash(into:)` are promised to be pure (R6).
final class ValueSender: Hashable, @unchecked Sendable {
    private let type: ObjectIdentifier
    private let value: AnyHashable

    init(_ value: any Hashable) {
        type = ObjectIdentifier(Swift.type(of: value))
        self.value = AnyHashable(value)
    }

    static func == (one: ValueSender, other: ValueSender) -> Bool { one.type == other.type && one.value == other.value }

    func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(value)
    }

    var description: String { String(reflecting: value.base) }
}

/// A sender as given to a registration.
enum SenderFilter {
    case any
    case object(AnyObject)
    case value(ValueSender)

    var key: SenderKey? {
        switch self {
        case .any: nil
        case .object(let object): SenderKey(object)
        case .value(let value): .value(value)
        }
    }

    /// A sender as Foundation passes it: `nil` for any. Traps on a value that can match nothing (M4, X1).
    init(any sender: Any?, call: StaticString) {
        guard let sender = sender.flatMap(SenderFilter.unwrapped) else {
            self = .any
            return
        }
        if let object = SenderKey.instance(in: sender) {
            self = .object(object)
            return
        }
        guard case .value(let value) = SenderKey(any: sender) else {
            // Not covered: ends the process; MisuseTests run it apart.
            fatalError(
                "\(call): the sender \(String(reflecting: sender)) is a value whose type, \(type(of: sender)), is not "
                    + "Hashable, so no post could ever match it; pass a class instance or a Hashable value.")
        }
        guard SenderKey.value(value) == SenderKey(any: sender) else {
            // Not covered: ends the process; MisuseTests run it apart.
            fatalError(
                "\(call): the sender \(String(reflecting: sender)) is not equal to itself, so no post could ever "
                    + "match it; pass a value that is.")
        }
        self = .value(value)
    }

    /// What is in an optional that was passed as `Any`.
    static func unwrapped(_ value: Any) -> Any? {
        if SenderKey.instance(in: value) != nil { return value }
        guard let optional = value as? any OptionalValue else { return value }
        return optional.wrapped.flatMap(unwrapped)
    }
}

private protocol OptionalValue { var wrapped: Any? { get } }

extension Optional: OptionalValue { var wrapped: Any? { self } }
