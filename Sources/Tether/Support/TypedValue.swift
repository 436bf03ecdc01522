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

    // MARK: Types that are Hashable on one actor only

    /// SAFETY: a type never changes; what its conformance leads to is pure (see above), so that any thread may call it.
    private struct Known: @unchecked Sendable { let type: any Hashable.Type }

    /// The types of values that observers were registered for. A type whose conformance is isolated to an actor can be
    /// cast to `any Hashable` on that actor only, so elsewhere it is found here.
    private static let knownTypes = Locked<[ObjectIdentifier: Known]>([:])

    /// A value of any type; `nil` if that is not `Hashable`, as far as this is known where it is called.
    ///
    /// From when an observer `isRegistered` for a value, others of its type are found everywhere.
    static func find(in value: Any, isRegistered: Bool = false) -> TypedValue? {
        let type = ObjectIdentifier(Swift.type(of: value))
        if let hashable = value as? any Hashable {
            let known = Known(type: Swift.type(of: hashable))
            if isRegistered { knownTypes.withLock { $0[type] = known } }
            return TypedValue(hashable)
        }
        return knownTypes.withLock { $0[type] }.flatMap { hashable(value, of: $0.type) }.map(TypedValue.init)
    }

    private static func hashable<Value: Hashable>(_ value: Any, of type: Value.Type) -> (any Hashable)? {
        value as? Value
    }

    static func == (one: TypedValue, other: TypedValue) -> Bool { one.type == other.type && one.value == other.value }

    func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(value)
    }

    var description: String { String(reflecting: value.base) }
}
