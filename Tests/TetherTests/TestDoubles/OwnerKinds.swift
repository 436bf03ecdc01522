import Foundation
import Tether

// A class of each kind of owner.

final class Plain: Sendable {}

class Base {
    let log: Log<String>

    init(_ log: Log<String>) {
        self.log = log
    }

    deinit { log.add("base deinit") }
}

final class Derived: Base {
    let text = "derived"

    deinit { log.add("derived deinit") }
}

class Pair<First, Second> {
    let first: First
    let second: Second

    init(first: First, second: Second) {
        self.first = first
        self.second = second
    }
}

final class TaggedPair<Value>: Pair<Value, Int> { var tag: Value? }

actor CountingActor { var count = 0 }

final class Mutable { var values = [1, 2, 3] }

final class Buffer: ManagedBuffer<Int, UInt8> {}

final class Model: NSObject { var title = "model" }

@MainActor final class Window { var updates = 0 }

/// Attaches itself, and posts, before the `init` throws.
class Throwing {
    struct Failure: Error {}

    init(_ center: ObserverCenter, _ log: Log<String>) throws {
        center.observe(.sample, owner: self) { _, _ in log.add("handler") }
        center.post(name: .sample, object: nil)
        throw Failure()
    }

    fileprivate init(attachedTo center: ObserverCenter, _ log: Log<String>) {
        center.observe(.sample, owner: self) { _, _ in log.add("handler") }
        center.post(name: .sample, object: nil)
    }
}

/// Attaches itself in the superclass's `init`, and throws in the subclass's.
final class ThrowingLate: Throwing {
    let text: String

    override init(_ center: ObserverCenter, _ log: Log<String>) throws {
        text = "late"
        super.init(attachedTo: center, log)
        throw Failure()
    }
}
