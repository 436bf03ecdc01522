import Tether

/// A value that several threads set and take.
final class Box<Value: Sendable>: Sendable {
    private let content: Guarded<Value>

    init(_ value: Value) {
        content = Guarded(value)
    }

    var value: Value { content.withLock(\.self) }

    /// Sets a new value; the old one is released after the lock.
    func set(_ value: Value) {
        let old = content.withLock { content in
            let old = content
            content = value
            return old
        }
        withExtendedLifetime(old) {}
    }
}
