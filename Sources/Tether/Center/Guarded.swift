internal import Synchronization

/// A `Mutex` that ThreadSanitizer can follow.
///
/// On Linux a contended `Mutex` is handed over by the kernel, which the sanitizer does not see, so that it takes every
/// access under the lock for a race. The atomic here says the same in words that it knows, for half a nanosecond.
package struct Guarded<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    private let handover = Atomic<Bool>(false)

    package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Calls `body` with the value while no one else has it.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { value throws(Failure) in
            _ = handover.load(ordering: .acquiring)
            defer { handover.store(false, ordering: .releasing) }
            return try body(&value)
        }
    }
}
