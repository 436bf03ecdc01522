internal import COwnerLifetime
internal import Foundation
internal import Synchronization

/// A value under a lock: a `Mutex` for short critical sections that many threads want.
///
/// On Linux a `Mutex` is a futex with priority inheritance, which the kernel passes to the thread that has waited longest. With
/// more threads than cores, each thread then sleeps before each of its turns. So a thread that finds the lock taken yields, and
/// tries again. It waits in the kernel only after 40 tries. Otherwise a thread of high priority might keep the one that has the
/// lock from running.
///
/// ThreadSanitizer does not see what the kernel orders. `isTaken` orders the same for it, for half a nanosecond. The value must
/// have a size, because the sanitizer takes an access to one without for an access to the next field.
package struct Locked<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    /// Whether a thread has the lock. A hint that saves tries that would fail: each is a system call.
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

    /// Calls `body` with the value while no other thread has it.
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

    /// Yields, or waits in the kernel for this thread's turn.
    @inline(never)
    private borrowing func wait(after tries: inout Int) {
        if tries < mostTries {
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

package typealias Guarded = Locked

/// How often a thread tries to get a lock that is taken before it waits for it.
#if canImport(Darwin)
/// A running thread may take an unfair lock before the threads that sleep.
private let mostTries = 0
#else
private let mostTries = 40
#endif

/// The locks that are taken inside each other, in the order of their ranks. A thread has at most one lock of each rank.
///
/// Debug builds check it at every lock, and at every call of the user's code. So a mistake ends the first test that makes it. A
/// release build has no ranks.
package enum LockRank: UInt32, Sendable {
    case owner = 1
    case center = 2
    case pending = 4

    #if DEBUG
    func enter() {
        let held = tether_held_lock_ranks()
        guard held < rawValue else {
            preconditionFailure(
                "A lock of the rank \(self) is taken by a thread that has one of its rank, or of a later one.")
        }
        tether_set_held_lock_ranks(held | rawValue)
    }

    func leave() { tether_set_held_lock_ranks(tether_held_lock_ranks() & ~rawValue) }
    #endif

    /// To be called before the user's code is called, or a value of the user's is released.
    @inline(__always)
    static func checkNoneIsHeld() {
        #if DEBUG
        guard tether_held_lock_ranks() == 0 else {
            preconditionFailure("Code of the user's is called by a thread that has a lock of Tether's.")
        }
        #endif
    }
}
