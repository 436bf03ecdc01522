/// What a post's sender is matched by (M4): a class instance by identity, a value by equality within its own type.
enum SenderKey: Hashable {
    case object(ObjectIdentifier)
    case value(type: ObjectIdentifier, AnyHashable)

    init(_ object: AnyObject) { self = .object(ObjectIdentifier(object)) }

    /// The key of a sender as Foundation passes it; `nil` for a value that can match no observer.
    init?(any sender: Any) {
        if let object = SenderKey.instance(in: sender) {
            self.init(object)
        } else if let value = sender as? any Hashable {
            self = .value(type: ObjectIdentifier(type(of: sender)), AnyHashable(value))
        } else {
            return nil
        }
    }

    /// The class instance that a value is, if it is one; a value type is not boxed.
    static func instance(in value: Any) -> AnyObject? {
        type(of: value) is AnyClass ? value as AnyObject : nil
    }
}

/// A sender as given to a registration.
enum SenderFilter {
    case any
    case object(AnyObject)
    case value(SenderKey, description: String)

    var key: SenderKey? {
        switch self {
        case .any: nil
        case .object(let object): SenderKey(object)
        case .value(let key, _): key
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
        guard let key = SenderKey(any: sender) else {
            fatalError(
                "\(call): the sender \(String(reflecting: sender)) is a value whose type, \(type(of: sender)), is not "
                    + "Hashable, so no post could ever match it; pass a class instance or a Hashable value.")
        }
        guard key == SenderKey(any: sender) else {
            fatalError(
                "\(call): the sender \(String(reflecting: sender)) is not equal to itself, so no post could ever "
                    + "match it; pass a value that is.")
        }
        self = .value(key, description: String(reflecting: sender))
    }

    /// What is in an optional that was passed as `Any`.
    static func unwrapped(_ value: Any) -> Any? {
        guard let optional = value as? any OptionalValue else { return value }
        return optional.wrapped.flatMap(unwrapped)
    }
}

private protocol OptionalValue { var wrapped: Any? { get } }

extension Optional: OptionalValue { var wrapped: Any? { self } }
