internal import COwnerLifetime
internal import Foundation
internal import Synchronization

/// A value under a lock: a `Mutex` for short critical sections that many threads want.
///
/// On Linux a `Mutex` is a futex with priority inheritance. The kernel passes the futex to the
/// waiting thread of the highest priority that waits longest, so with more threads than cores each
/// thread sleeps before each critical section. A thread therefore tries again at a taken lock. It
/// pauses between the first tries, because a holder on another processor needs less time than a
/// yield takes, and then yields. In the end the thread waits in the kernel. Otherwise high-priority
/// threads could starve the holder.
///
/// ThreadSanitizer does not see the kernel's ordering. `isTaken` shows it the same ordering, for
/// half a nanosecond. The value must have a size: the sanitizer takes an access to an empty value
/// for an access to the next field.
package struct Locked<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    /// Whether a thread has the lock. The hint saves tries that would fail: each try is a system
    /// call.
    private let isTaken = Synchronization.Atomic<Bool>(false)
    #if DEBUG
    private let rank: LockRank?
    #endif

    /// Makes a lock, by default a leaf. `nil` is for doubles of tests that stand for the user's
    /// code, and run code under their lock: such a lock is not checked.
    package init(_ value: consuming sending Value, rank: LockRank? = .leaf) {
        mutex = Mutex(value)
        #if DEBUG
        self.rank = rank
        #endif
    }

    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        var tries = 0
        // One call of `body` in one place, because a second call retains every captured object once
        // more.
        while true {
            Interleaving.pass(.step)
            if let result = try withLockIfFree(body) {
                Interleaving.pass(.unlocked)
                return result
            }
            if !Interleaving.pass(.blocked) { wait(after: &tries) }
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

    @inline(never)
    private borrowing func wait(after tries: inout Int) {
        tries += 1
        if tries <= pauses {
            tether_pause()
        } else if tries <= pauses + yields {
            sched_yield()
        } else {
            tries = 0
            mutex.withLock { _ in }
        }
    }

    @inline(__always)
    private borrowing func enter() {
        // For ThreadSanitizer alone: pairs with the release in `leave`.
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

// The numbers of tries at a taken lock, before a thread waits in the kernel.
#if canImport(Darwin)
/// None, because a running thread may take an unfair lock before sleeping threads.
private let pauses = 0
private let yields = 0
#else
private let pauses = 30
private let yields = 40
#endif

/// The ranks of locks, in the order in which a thread may take them. A thread holds at most one
/// lock of each rank.
///
/// Debug builds check at every lock, before each handler and conversion, before each end of an
/// observer, and before blocks are submitted and values released. So a mistake ends its first test.
/// Release builds have no ranks.
package enum LockRank: UInt32, Sendable {
    /// The table of foreign centers, and the count of open leak checks.
    case outer = 1
    /// A shard of the object table.
    case owner = 2
    case center = 4
    case pending = 8
    /// The table of threads that wait for handlers.
    case waiters = 16
    /// Every other lock: taken alone or last.
    case leaf = 32

    #if DEBUG
    func enter() {
        let held = tether_held_lock_ranks()
        guard held < rawValue else {
            preconditionFailure(
                "A thread takes a lock of rank \(self) while it holds a lock of the same or a later rank."
            )
        }
        tether_set_held_lock_ranks(held | rawValue)
    }

    func leave() { tether_set_held_lock_ranks(tether_held_lock_ranks() & ~rawValue) }
    #endif

    /// Called before code of the user's may run: a handler, a scheduler, a `deinit`.
    @inline(__always)
    static func checkNoneIsHeld() {
        #if DEBUG
        guard tether_held_lock_ranks() == 0 else {
            preconditionFailure(
                "A thread calls code of a user while it holds a lock of Tether.")
        }
        #endif
    }
}
