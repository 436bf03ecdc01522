internal import Dispatch
internal import Synchronization

// Tests/TetherInterleavings runs a few threads one at a time, and decides at each *point* which
// thread goes on. The points are here: an access to an atomic, a try of a lock, a retain of an unowned
// reference, and a wait for a signal.
//
// Points exist in a build with `-D TETHER_INTERLEAVING` alone. In any other build `pass` is empty, and
// `Atomic` is that of `Synchronization`.

enum Interleaving {
    enum Point: UInt8 {
        /// Before an access that other threads see.
        case step
        /// The thread has left a lock.
        case unlocked
        /// The thread has found a lock taken.
        case blocked
        /// The thread waits for a signal.
        case waiting
        /// The thread has given a signal.
        case signalled
    }

    #if TETHER_INTERLEAVING
    /// Called at each point. Returns whether the thread is one of the test's.
    /// SAFETY: set while no other thread uses Tether.
    nonisolated(unsafe) static var schedule: (@convention(c) (Point.RawValue) -> Bool)?
    /// The numbers of addresses, in the order of their first use.
    /// SAFETY: one thread runs at a time.
    nonisolated(unsafe) private static var numbers: [UInt: UInt] = [:]
    #endif

    /// Passes a point. Returns whether the thread is one of the test's.
    @inline(__always) @discardableResult
    static func pass(_ point: Point) -> Bool {
        #if TETHER_INTERLEAVING
        unsafe schedule?(point.rawValue) ?? false
        #else
        false
        #endif
    }

    /// The number by which tables spread objects. Not the address under a test, where a seed must
    /// have the same points in each process.
    @inline(__always)
    static func number(ofAddress address: UInt) -> UInt {
        #if TETHER_INTERLEAVING
        let number = unsafe numbers[address] ?? UInt(numbers.count + 1)
        unsafe numbers[address] = number
        return number
        #else
        address
        #endif
    }
}

/// A semaphore for one signal, which one thread awaits.
struct Signal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func give() {
        semaphore.signal()
        Interleaving.pass(.signalled)
    }

    func wait() {
        #if TETHER_INTERLEAVING
        while semaphore.wait(timeout: .now()) == .timedOut {
            if !Interleaving.pass(.waiting) { return semaphore.wait() }
        }
        #else
        semaphore.wait()
        #endif
    }
}

#if TETHER_INTERLEAVING
/// In place of `Synchronization.Atomic`, in all files of this module. One thread runs at a time, so
/// each order is sequentially consistent.
struct Atomic<Value: AtomicRepresentable>: ~Copyable, Sendable {
    /// SAFETY: the mutex protects the value.
    struct Content: @unchecked Sendable {
        var value: Value

        /// Values are compared as memory, because not every value is `Equatable`.
        func isEqual(to other: Content) -> Bool {
            unsafe withUnsafeBytes(of: value) { one in
                unsafe withUnsafeBytes(of: other.value) { unsafe one.elementsEqual($0) }
            }
        }
    }

    private let content: Mutex<Content>

    init(_ value: consuming Value) { content = Mutex(Content(value: value)) }

    /// Returns the value before the change.
    private borrowing func change(_ body: (inout Content) -> Void) -> Value {
        Interleaving.pass(.step)
        return content.withLock { content in
            let old = content
            body(&content)
            return old
        }.value
    }

    borrowing func load(ordering: AtomicLoadOrdering) -> Value { change { _ in } }

    borrowing func store(_ value: Value, ordering: AtomicStoreOrdering) {
        let new = Content(value: value)
        _ = change { $0 = new }
    }

    borrowing func exchange(_ value: Value, ordering: AtomicUpdateOrdering) -> Value {
        let new = Content(value: value)
        return change { $0 = new }
    }

    borrowing func compareExchange(
        expected: Value, desired: Value, ordering: AtomicUpdateOrdering
    ) -> (exchanged: Bool, original: Value) {
        let old = Content(value: expected)
        let new = Content(value: desired)
        var isExchanged = false
        let original = change { content in
            isExchanged = content.isEqual(to: old)
            if isExchanged { content = new }
        }
        return (isExchanged, original)
    }

    borrowing func weakCompareExchange(
        expected: Value, desired: Value, ordering: AtomicUpdateOrdering
    ) -> (exchanged: Bool, original: Value) {
        compareExchange(expected: expected, desired: desired, ordering: ordering)
    }
}

extension Atomic where Value: FixedWidthInteger {
    typealias Change = (oldValue: Value, newValue: Value)

    @discardableResult
    borrowing func wrappingAdd(_ operand: Value, ordering: AtomicUpdateOrdering) -> Change {
        let old = change { $0.value &+= operand }
        return (old, old &+ operand)
    }

    @discardableResult
    borrowing func bitwiseOr(_ operand: Value, ordering: AtomicUpdateOrdering) -> Change {
        let old = change { $0.value |= operand }
        return (old, old | operand)
    }

    @discardableResult
    borrowing func bitwiseAnd(_ operand: Value, ordering: AtomicUpdateOrdering) -> Change {
        let old = change { $0.value &= operand }
        return (old, old & operand)
    }
}
#endif
