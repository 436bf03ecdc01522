/// A value as a sender or a key: compared within its own type, so that `1`, `1.0` and `UInt8(1)` are three (M4, M7).
///
/// SAFETY: the value is only compared and hashed; its `==` and `hash(into:)` are promised to be pure (R6).
final class TypedValue: Hashable, @unchecked Sendable {
    private let type: ObjectIdentifier
    private let value: AnyHashable

    init(_ value: any Hashable) {
        type = ObjectIdentifier(Swift.type(of: value))
        self.value = AnyHashable(value)
    }

    static func == (one: TypedValue, other: TypedValue) -> Bool { one.type == other.type && one.value == other.value }

    func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(value)
    }

    var description: String { String(reflecting: value.base) }
}
