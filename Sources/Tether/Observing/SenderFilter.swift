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
