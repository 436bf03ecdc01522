/// A value as a sender or a key, compared within its own type: `1`, `1.0` and `UInt8(1)` differ
/// (M4, M7).
///
/// SAFETY: the value is only compared and hashed; the user promises pure `==` and `hash(into:)`
/// (R6).
final class TypedValue: Hashable, @unchecked Sendable {
    private let type: ObjectIdentifier
    private let value: AnyHashable
    /// Kept, because a table hashes its key at each search.
    private let hash: Int

    init(_ value: any Hashable) {
        type = ObjectIdentifier(Swift.type(of: value))
        self.value = AnyHashable(value)
        hash = value.hashValue
    }

    /// A value of any type; `nil` if the type is not `Hashable`, or on another actor only.
    static func find(in value: Any) -> TypedValue? {
        (value as? any Hashable).map { TypedValue($0) }
    }

    static func == (one: TypedValue, other: TypedValue) -> Bool {
        one.type == other.type && one.value == other.value
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(hash)
    }

    /// Whether the object of a foreign center's notification is the value. Foundation may have made
    /// an object of the value, which a cast undoes.
    func matches(_ object: Any) -> Bool {
        func isEqual<Value: Hashable>(_ value: Value) -> Bool { object as? Value == value }
        guard let value = value.base as? any Hashable else { return false }
        return isEqual(value)
    }

    var description: String { String(reflecting: value.base) }
}
