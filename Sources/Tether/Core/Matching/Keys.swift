/// The key of a post's sender for matching (M4): a class instance by identity, a value by equality
/// within its own type.
enum SenderKey: Hashable {
    case object(ObjectIdentifier)
    case value(TypedValue)

    @inline(__always)
    init(_ object: AnyObject) { self = .object(ObjectIdentifier(object)) }

    /// The key of a sender in Foundation's form; `nil` for no sender, and for a value that can
    /// match no observer.
    @inline(__always)
    init?(any sender: Any) {
        if let object = Unwrapped.storedObject(in: sender) {
            self.init(object)
        } else {
            self.init(Unwrapped(sender))
        }
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

/// A key and its owner. At most one observer of a center has the pair (M7).
///
/// A class instance is refused. If retained, the object would live as long as its observer, with
/// its owner (O2). If not retained, it could be compared by identity only, so an equal object, such
/// as another string, would replace nothing.
final class ObserverKey: Hashable, Sendable {
    private let owner: ObjectIdentifier?
    private let value: TypedValue

    /// A key without an owner. Traps on an object, and on a key unequal to itself (X1).
    init(_ key: any Hashable, at site: CallSite) {
        owner = nil
        switch Unwrapped(key) {
        case .nothing: value = TypedValue(key)
        case .value(let content):
            // If the optional or box is Hashable, its content is Hashable.
            value = TypedValue.find(in: content) ?? TypedValue(key)
        case .object(let object):
            site.refuse(
                "the key is the object \(describeInstance(object)), which its observer would keep; pass a value that "
                    + "names it, or make it the observer's owner.")
        }
        guard value == value else {
            site.refuse(
                "the key \(description) is not equal to itself, so no observer could ever be found by it; pass a key "
                    + "that is.")
        }
    }

    private init(_ value: TypedValue, of owner: ObjectIdentifier) {
        self.owner = owner
        self.value = value
    }

    /// The same key among an owner's keys.
    func of(_ owner: AnyObject?) -> ObserverKey {
        owner.map { ObserverKey(value, of: ObjectIdentifier($0)) } ?? self
    }

    var description: String { value.description }

    static func == (one: ObserverKey, other: ObserverKey) -> Bool {
        one.owner == other.owner && one.value == other.value
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(owner)
        hasher.combine(value)
    }
}
