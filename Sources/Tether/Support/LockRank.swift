internal import COwnerLifetime

/// The locks that are taken inside each other, in the order in which that is done. Of one rank a thread has at most one.
///
/// Debug builds check it at every lock, and at every call of the user's code, so that a mistake ends the first test that
/// makes it. In release a rank is nothing.
package enum LockRank: UInt32, Sendable {
    case look = 2
    case owner = 4
    case center = 8
    case pending = 16

    #if DEBUG

    func enter() {
        let held = tether_held_lock_ranks()
        guard held < rawValue else {
            // Not covered: ends the process; LockRankTests run it apart.
            preconditionFailure(
                "A lock of the rank \(self) is taken by a thread that has one of its rank, or of a later one.")
        }
        tether_set_held_lock_ranks(held | rawValue)
    }

    func leave() { tether_set_held_lock_ranks(tether_held_lock_ranks() & ~rawValue) }

    #endif

    /// To be called before the user's code is, or a value of the user's is released.
    @inline(__always)
    static func checkNoneIsHeld() {
        #if DEBUG
        guard tether_held_lock_ranks() == 0 else {
            // Not covered: ends the process; LockRankTests run it apart.
            preconditionFailure("Code of the user's is called by a thread that has a lock of Tether's.")
        }
        #endif
    }
}
