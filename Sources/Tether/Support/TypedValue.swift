/// A value as a sender or a key, compared within its own type: `1`, `1.0` and `UInt8(1)` differ (M4, M7).
///
/// SAFETY: the value is only compared and hashed; the user promises pure `==` and `hash(into:)` (R6).
final class TypedValue: Hashable, @unchecked Sendable {
    private let type: ObjectIdentifier
    private let value: AnyHashable

    init(_ value: any Hashable) {
        type = ObjectIdentifier(Swift.type(of: value))
        self.value = AnyHashable(value)
    }

    // MARK: Types that are Hashable on one actor only

    /// SAFETY: a type never changes; the functions of its conformance are pure (R6), so any thread may call them.
    private struct Known: @unchecked Sendable { let type: any Hashable.Type }

    /// The types of values with observers. If a type's conformance is isolated to an actor, a cast to `any Hashable`
    /// succeeds on the actor only. Other threads find the type here.
    private static let knownTypes = Locked<[ObjectIdentifier: Known]>([:])

    /// A value of any type; `nil` if the type is not `Hashable`, as far as the calling thread can find out.
    ///
    /// After an observer `isRegistered` for a value, every thread finds other values of the type.
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
