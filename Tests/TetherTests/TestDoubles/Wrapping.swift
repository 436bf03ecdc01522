import Foundation
import Testing
import Tether

protocol OneTable {}
protocol OtherTable {}
protocol Constrained: AnyObject {}
protocol Parameterised<Value> {
    associatedtype Value = Int
}

/// Values for every wrapping.
protocol Wrappable: AnyObject, OneTable, OtherTable, Constrained, Parameterised, Error, Hashable
where Value == Int {}

extension NotificationObserver: Error, Wrappable {}

/// A way for an object to be stored in an `Any`.
struct Wrapping: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let wrap: @Sendable (any Wrappable) -> Any?

    private init(_ description: String, _ wrap: @escaping @Sendable (any Wrappable) -> Any?) {
        testDescription = description
        self.wrap = wrap
    }

    /// A generic function's `Any` of a value, whose type may be an existential.
    private static func boxed<Value>(_ value: Value) -> Any { value }
    private static func optional<Object: Wrappable>(_ object: Object) -> Any {
        Optional(object) as Any
    }
    private static func nested<Object: Wrappable>(_ object: Object) -> Any {
        Object???.some(.some(.some(object))) as Any
    }
    private static func parameterised<Object: Wrappable>(_ object: Object) -> Any {
        boxed(object as any Parameterised<Int>)
    }
    private static func hashable<Object: Wrappable>(_ object: Object) -> AnyHashable {
        AnyHashable(object)
    }
    private static func optionalHashable<Object: Wrappable>(_ object: Object) -> AnyHashable {
        AnyHashable(Optional(object))
    }

    static let all = [
        Wrapping("as it is") { $0 },
        Wrapping("optional") { optional($0) },
        Wrapping("optional of an optional of an optional") { nested($0) },
        Wrapping("optional of Any") { Any?.some($0) as Any },
        Wrapping("optional of an optional of Any") { Any??.some(.some($0)) as Any },
        Wrapping("dictionary's value") { ["sender": $0 as Any]["sender"] as Any },
        Wrapping("notification's object") { Notification(name: .sample, object: $0).object as Any },
        Wrapping("notification's object, nested") {
            Notification(name: .sample, object: Any?.some($0) as Any).object
        },
        Wrapping("mirror's child") {
            Mirror(reflecting: (object: $0, 0)).children.first?.value as Any
        },
        Wrapping("generic, Any") { boxed($0 as Any) },
        Wrapping("generic, Any, three deep") { boxed(boxed(boxed($0 as Any) as Any) as Any) },
        Wrapping("generic, optional of Any") { boxed($0 as Any?) },
        Wrapping("generic, AnyObject") { boxed($0 as AnyObject) },
        Wrapping("generic, optional of AnyObject") { boxed($0 as AnyObject?) },
        Wrapping("generic, a protocol") { boxed($0 as any OneTable) },
        Wrapping("generic, optional of a protocol") { boxed($0 as (any OneTable)?) },
        Wrapping("generic, two protocols") { boxed($0 as any OneTable & OtherTable) },
        Wrapping("generic, a protocol of classes") { boxed($0 as any Constrained) },
        Wrapping("generic, classes and another protocol") {
            boxed($0 as any Constrained & OneTable)
        },
        Wrapping("generic, a protocol with a parameter") { parameterised($0) },
        Wrapping("generic, Sendable") { boxed($0 as any Sendable) },
        Wrapping("generic, an error") { boxed($0 as any Error) },
        Wrapping("generic, optional of an error") { boxed($0 as (any Error)?) },
        Wrapping("generic, an error in an Any in an Any") { boxed(boxed($0 as any Error) as Any) },
        Wrapping("generic, Hashable") { boxed($0 as any Hashable) },
        Wrapping("AnyHashable") { hashable($0) },
        Wrapping("AnyHashable of an optional") { optionalHashable($0) },
        Wrapping("generic, AnyHashable in an Any") { boxed(hashable($0) as Any) },
        Wrapping("generic, optional of AnyHashable") { boxed(hashable($0) as AnyHashable?) },
    ]
}
