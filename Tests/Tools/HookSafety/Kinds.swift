import Dispatch
import Foundation
import Tether

/// The order of the ends.
final class Order: @unchecked Sendable {
    private let lock = NSLock()
    private var entries: [String] = []
    /// Signalled by a `deinit` on another thread.
    let hasEnded = DispatchSemaphore(value: 0)

    func add(_ entry: String) { lock.withLock { entries.append(entry) } }
    var all: [String] { lock.withLock { entries } }
}

final class Final { let words = (1, "two", [3]) }

class Base {
    let order: Order

    init(_ order: Order) { self.order = order }
    deinit { order.add("base") }
}

final class Derived: Base {
    var text = "derived"

    deinit { order.add("derived") }
}

class Generic<First, Second> {
    var first: First?
    var second: Second?
}

final class Specialised: Generic<[String], Int> { var third: Any? = 3 }

final class Tail: ManagedBuffer<Int, String> {}

actor Counter { var count = 0 }

@MainActor final class Isolated { var count = 0 }

final class Object: NSObject { var text = "object" }

private final class Private { var closure: (() -> Void)? }

final class Empty {}

final class WithWeak { weak var other: AnyObject? }

protocol Existing: AnyObject { func exist() }

final class Conforming: Existing, CustomStringConvertible, Hashable {
    func exist() {}
    var description: String { "conforming" }
    static func == (one: Conforming, other: Conforming) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

struct Namespace<Value> {
    final class Nested { var value: Value? }
}

extension Checks {
    func kinds() {
        check("a final class") { Final() }
        check("an open class") { Base(Order()) }
        check("a subclass") { Derived(Order()) }
        check("a generic class") { Generic<Int, String>() }
        check("another instantiation") { Generic<Final, (Int, Double?)>() }
        check("a subclass of a generic class") { Specialised() }
        check("a class nested in a generic struct") { Namespace<Int>.Nested() }
        check("a class with tail-allocated elements") { Tail.create(minimumCapacity: 9) { _ in 1 } }
        check("an actor") { Counter() }
        check("a private class") { Private() }
        check("a class without fields") { Empty() }
        check("a class with a weak field") { WithWeak() }
        check("a class with conformances") { Conforming() }
        final class Local<Value> { var value: Value? }
        check("a local generic class") { Local<[Int]>() }
        check("a key path that captures") { \[Int].[Int.random(in: 0..<9)] as AnyObject }
        check("a class of the main actor") { MainActor.assumeIsolated { Isolated() } }
        deinitOrder()
    }

    private func deinitOrder() {
        let (center, order) = (ObserverCenter(), Order())
        final class Traced: Sendable {
            let order: Order
            init(_ order: Order) { self.order = order }
            deinit { order.add("capture") }
        }
        @inline(never) func attach() {
            let owner = Derived(order)
            escape(owner)
            let traced = Traced(order)
            center.observe(.checked, owner: owner) { _, _ in withExtendedLifetime(traced) {} }
        }
        attach()
        letGo()
        expect(order.all == ["capture", "derived", "base"], "a subclass: it ended as \(order.all)")
    }

    func foundationClasses() {
        check("NSObject") { NSObject() }
        check("a subclass of NSObject") { Object() }
        check("NSMutableArray") { NSMutableArray(array: [1, 2]) }
        check("NSMutableString") { NSMutableString(string: "text") }
        check("DateFormatter") { DateFormatter() }
        check("OperationQueue") { OperationQueue() }
        check("BlockOperation") { BlockOperation {} }
        check("Thread") { Thread {} }
        check("Progress") { Progress(totalUnitCount: 1) }
        check("NSLock") { NSLock() }
        check("JSONDecoder") { JSONDecoder() }
        check("DispatchQueue") { DispatchQueue(label: "HookSafety.queue") }
    }
}
