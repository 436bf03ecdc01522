import Synchronization
import Tether

/// A value that several threads set and take. The test decides when the value is released.
final class Box<Value: Sendable>: Sendable {
    private let content: Locked<Value>

    init(_ value: Value) {
        content = Locked(value)
    }

    var value: Value { content.withLock(\.self) }

    /// Sets a value. The old value is released outside the lock.
    func set(_ value: Value) {
        let old = content.withLock { content in
            let old = content
            content = value
            return old
        }
        withExtendedLifetime(old) {}
    }
}

extension Box where Value: ExpressibleByNilLiteral {
    convenience init() { self.init(nil) }

    func drop() { set(nil) }
}

extension Box {
    convenience init<Content>(optional content: Content) where Value == Content? {
        self.init(content)
    }
}

/// The events of a test, in order, from any thread.
final class Log<Entry: Sendable>: Sendable {
    private let content = Locked<[Entry]>([])

    /// A copy in memory of its own. ThreadSanitizer does not see the reference counts of the
    /// runtime, so in optimised builds it takes the next `add` for a race with the reader of shared
    /// memory.
    var entries: [Entry] { content.withLock { entries in entries.map { $0 } } }

    func add(_ entry: Entry) { content.withLock { $0.append(entry) } }
}

/// A flag and a counter without a lock, for races.
final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isRaised: Bool { value.load(ordering: .acquiring) }

    func raise() { value.store(true, ordering: .releasing) }

    func lower() { value.store(false, ordering: .releasing) }
}

final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .acquiring) }

    func add(_ amount: Int = 1) { value.wrappingAdd(amount, ordering: .acquiringAndReleasing) }
}
