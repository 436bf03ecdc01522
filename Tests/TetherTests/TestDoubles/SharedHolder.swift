import Tether

/// A value that can be let go at a definite point, from any thread.
final class SharedHolder<Value: Sendable>: Sendable {
    private let content: Guarded<Value?>

    init(_ value: Value? = nil) {
        content = Guarded(value)
    }

    var value: Value? { content.withLock(\.self) }

    /// Takes another value; the old one is released before this returns, outside the lock.
    func set(_ value: Value?) {
        let old = content.withLock { content in
            let old = content
            content = value
            return old
        }
        withExtendedLifetime(old) {}
    }

    func drop() { set(nil) }
}
