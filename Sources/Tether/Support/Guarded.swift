internal import Foundation
internal import Synchronization

/// A `Mutex` for short critical sections that many threads want, which ThreadSanitizer can follow.
///
/// On Linux a `Mutex` is a futex with priority inheritance, which the kernel hands to the thread that has waited longest.
/// With more threads than cores every one of them then sleeps before each of its turns. So a thread that finds the lock
/// taken lets others run and tries again; it waits in the kernel only when that did not help, because a thread of high
/// priority may keep the one that has the lock from running.
///
/// The sanitizer does not see what the kernel hands over, and would take every access under the lock for a race. The
/// atomic here says the same in words that it knows, for half a nanosecond. The value must have a size, because the
/// sanitizer takes an access to one without for an access to what follows it.
package struct Guarded<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    /// Whether a thread has the lock. Only a hint, which saves tries that would fail: each is a system call.
    private let isTaken = Atomic<Bool>(false)
    #if DEBUG
    private let rank: LockRank?
    #endif

    /// Makes a lock. One without a rank is taken alone, or last.
    package init(_ value: consuming sending Value, rank: LockRank? = nil) {
        mutex = Mutex(value)
        #if DEBUG
        self.rank = rank
        #endif
    }

    /// Calls `body` with the value while no one else has it.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        var tries = 0
        // One call of the body in one place, because a second one costs a retain of everything that it captures.
        while true {
            if let result = try withLockIfFree(body) { return result }
            wait(after: &tries)
        }
    }

    @inline(__always)
    private borrowing func withLockIfFree<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        if isTaken.load(ordering: .relaxed) { return nil }
        return try mutex.withLockIfAvailable { value throws(Failure) in
            enter()
            defer { leave() }
            return try body(&value)
        }
    }

    /// Lets others run, or, where that did not help, waits in the kernel until it is this thread's turn.
    @inline(never)
    private borrowing func wait(after tries: inout Int) {
        if tries < Patience.tries {
            tries += 1
            sched_yield()
        } else {
            tries = 0
            mutex.withLock { _ in }
        }
    }

    @inline(__always)
    private borrowing func enter() {
        _ = isTaken.load(ordering: .acquiring)
        isTaken.store(true, ordering: .relaxed)
        #if DEBUG
        rank?.enter()
        #endif
    }

    @inline(__always)
    private borrowing func leave() {
        #if DEBUG
        rank?.leave()
        #endif
        isTaken.store(false, ordering: .releasing)
    }
}

/// How often a thread tries to get a lock that is taken before it waits for it.
private enum Patience {
    #if canImport(Darwin)
    /// Whoever is running may take an unfair lock first, so that nobody is handed it while asleep.
    static let tries = 0
    #else
    static let tries = 40
    #endif
}
