internal import COwnerLifetime
internal import Foundation
internal import Synchronization

/// A value under a lock, for short critical sections that many threads want.
///
/// On Apple platforms a `Mutex`. On Linux a `Mutex` is a futex with priority inheritance: the kernel
/// passes it to a waiting thread, so with more threads than cores each thread sleeps before each
/// critical section. There a thread takes this lock with one exchange, and leaves the lock with one
/// store. At a taken lock the thread pauses first, because a holder on another processor needs less
/// time than a yield takes, and then yields. It looks at the lock seldom: each look takes memory away
/// from the processor on which the holder writes. In the end the thread sleeps: otherwise threads of
/// high priority could keep the holder from running.
///
/// The value must have a size: ThreadSanitizer takes an access to an empty value for an access to
/// the next field.
/// SAFETY: the lock protects the value.
package struct Locked<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    #if canImport(Darwin)
    private let mutex: Mutex<Value>
    #else
    /// The storage of a `Mutex`.
    private let value: _Cell<Value>
    private let lock = _Cell<UInt8>(0)
    #endif
    #if DEBUG
    private let rank: LockRank?
    #endif

    /// Makes a lock, by default a leaf. `nil` is for doubles of tests that stand for the user's
    /// code, and run code under their lock: such a lock is not checked.
    package init(_ value: consuming sending Value, rank: LockRank? = .leaf) {
        #if canImport(Darwin)
        mutex = Mutex(value)
        #else
        self.value = _Cell(value)
        #endif
        #if DEBUG
        self.rank = rank
        #endif
    }

    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        Interleaving.pass(.step)
        // The rank is entered first, because a lock that this thread holds would never be free. It is
        // left inside the lock, because another thread may then release this object.
        enterRank()
        #if canImport(Darwin)
        return try mutex.withLock { value throws(Failure) in
            defer { leaveRank() }
            return try body(&value)
        }
        #else
        while unsafe !tether_try_lock(lock._address) { waitUntilFree() }
        defer {
            leaveRank()
            unsafe tether_unlock(lock._address)
            Interleaving.pass(.unlocked)
        }
        return try unsafe body(&value._address.pointee)
        #endif
    }

    #if !canImport(Darwin)
    @inline(never)
    private borrowing func waitUntilFree() {
        var looks = 0
        while unsafe tether_is_locked(lock._address) {
            if Interleaving.pass(.blocked) { continue }
            looks += 1
            if looks <= looksBeforeYields {
                for _ in 0..<pausesBeforeLook { tether_pause() }
            } else if looks <= looksBeforeYields + yieldsBeforeSleep {
                sched_yield()
            } else {
                looks = 0
                usleep(sleepInMicroseconds)
            }
        }
    }
    #endif

    @inline(__always)
    private borrowing func enterRank() {
        #if DEBUG
        rank?.enter()
        #endif
    }

    @inline(__always)
    private borrowing func leaveRank() {
        #if DEBUG
        rank?.leave()
        #endif
    }
}

#if !canImport(Darwin)
/// A third of a microsecond on the processors that were measured.
private let pausesBeforeLook = 20
private let looksBeforeYields = 10
private let yieldsBeforeSleep = 40
private let sleepInMicroseconds: UInt32 = 50
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
