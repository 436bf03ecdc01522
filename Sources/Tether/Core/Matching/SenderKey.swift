/// What a post's sender is matched by (M4): a class instance by identity, a value by equality within its own type.
enum SenderKey: Hashable {
    case object(ObjectIdentifier)
    case value(TypedValue)

    @inline(__always)
    init(_ object: AnyObject) { self = .object(ObjectIdentifier(object)) }

    /// The key of a sender as Foundation passes it; `nil` for none, and for a value that can match no observer.
    @inline(__always)
    init?(any sender: Any) {
        if let object = Unwrapped.storedObject(in: sender) { self.init(object) } else { self.init(Unwrapped(sender)) }
    }

    @inline(never)
    init?(_ content: Unwrapped) {
        switch content {
        case .nothing: return nil
        case .object(let object): self.init(object)
        case .value(let value):
            guard let value = TypedValue.find(in: value) else { return nil }
            self = .value(value)
        }
    }
}

/// A sender as given to a registration.
enum SenderFilter {
    case any
    case object(AnyObject)
    case value(TypedValue)

    var key: SenderKey? {
        switch self {
        case .any: nil
        case .object(let object): SenderKey(object)
        case .value(let value): .value(value)
        }
    }

    /// A sender that may be left out.
    static func given<Sender: AnyObject>(_ sender: Sender, call: StaticString) -> SenderFilter {
        if Omitted.stands(for: sender) { return .any }
        ObjectArgument.sender.check(sender, call: call)
        return .object(sender)
    }

    /// A sender as Foundation passes it: `nil` for any. Traps on what can match nothing (M4, X1).
    init(any sender: Any?, call: StaticString) {
        switch sender.map(Unwrapped.init) ?? .nothing {
        case .nothing: self = .any
        case .object(let object):
            ObjectArgument.sender.check(object, call: call)
            self = .object(object)
        case .value(let value): self = .value(SenderFilter.matchable(value, call: call))
        }
    }

    private static func matchable(_ sender: Any, call: StaticString) -> TypedValue {
        guard let value = TypedValue.find(in: sender, isRegistered: true) else {
            // Not covered: ends the process; MisuseTests run it apart.
            fatalError(
                "\(call): the sender \(String(reflecting: sender)) is a value whose type, \(type(of: sender)), is not "
                    + "Hashable, or on another actor only, so no post could ever match it; pass a class instance or a "
                    + "Hashable value.")
        }
        guard value == value else {
            // Not covered: ends the process; MisuseTests run it apart.
            fatalError(
                "\(call): the sender \(String(reflecting: sender)) is not equal to itself, so no post could ever "
                    + "match it; pass a value that is.")
        }
        return value
    }
}
