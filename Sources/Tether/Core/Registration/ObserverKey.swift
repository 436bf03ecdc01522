/// The key and owner that at most one observer of a center has (M7).
///
/// A class instance is refused: held, it would live as long as its observer, its owner's object included (O2). Not held,
/// it could be told by identity only, so that an equal one, such as another string object, would replace nothing.
final class ObserverKey: Hashable, Sendable {
    private let owner: ObjectIdentifier?
    private let value: TypedValue

    /// A key without an owner. Traps on one that is an object, or is not equal to itself (X1).
    init(_ key: any Hashable) {
        owner = nil
        switch Unwrapped(key) {
        // Not covered: the second, where the type is Hashable on another actor only.
        case .nothing: value = TypedValue.find(in: Unwrapped.nothing(in: key)) ?? TypedValue(key)
        case .value(let content):
            // The content of an optional or a box is Hashable where these are.
            // Not covered: away from the actor that its conformance is isolated to, where only Swift 5 mode can call this.
            value = TypedValue.find(in: content) ?? TypedValue(key)
        case .object(let object):
            // Not covered: ends the process; MisuseTests run it apart.
            fatalError(
                "observe(_:key:): the key is the object \(describeInstance(object)), which its observer would keep; pass "
                    + "a value that names it, or make it the observer's owner.")
        }
        guard value == value else {
            // Not covered: ends the process; MisuseTests run it apart.
            fatalError(
                "observe(_:key:): the key \(description) is not equal to itself, so no observer could ever be found by "
                    + "it; pass a key that is.")
        }
    }

    private init(_ value: TypedValue, of owner: ObjectIdentifier) {
        self.owner = owner
        self.value = value
    }

    /// The same key, among an owner's.
    func of(_ owner: AnyObject?) -> ObserverKey { owner.map { ObserverKey(value, of: ObjectIdentifier($0)) } ?? self }

    var description: String { value.description }

    static func == (one: ObserverKey, other: ObserverKey) -> Bool {
        one.owner == other.owner && one.value == other.value
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(owner)
        hasher.combine(value)
    }
}
