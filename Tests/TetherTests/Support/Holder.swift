import Synchronization

/// A value that can be let go at a definite point, from any thread.
final class Holder<Value: Sendable>: Sendable {
    private let content: Mutex<Value?>

    init(_ value: Value? = nil) {
        content = Mutex(value)
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
