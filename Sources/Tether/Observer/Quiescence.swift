internal import COwnerLifetime
internal import Dispatch

/// Waiting until a registration's handlers have returned (R2).
enum Quiescence {
    private struct Waiter {
        let registration: UInt
        /// The thread that waits; nobody's for the async form.
        let thread: PostingThread?
        let resume: @Sendable () -> Void

        var isDone: Bool { !PostingThread.threads(running: registration).contains { $0 !== thread } }
    }

    private static let waiters = Guarded<[Waiter]>([])

    /// Whether posting threads must call `recheck` after a handler.
    @inline(__always)
    static var hasWaiters: Bool { tether_has_waiters() }

    /// Lets those go on whose handlers have all returned.
    @inline(never)
    static func recheck() {
        let done = waiters.withLock { waiters in
            // Asked once for each: a handler may return at any moment, and who is taken out must be let go on.
            let isDone = waiters.map(\.isDone)
            let done = zip(waiters, isDone).filter(\.1).map(\.0)
            waiters = zip(waiters, isDone).filter { !$0.1 }.map(\.0)
            tether_set_waiters(waiters.count)
            return done
        }
        for waiter in done { waiter.resume() }
    }

    /// Waits on this thread for the other threads' handlers; false, at once, if one of those threads waits, directly
    /// or through others, for a handler of this thread.
    static func wait(for registration: UInt) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        let waiter = Waiter(registration: registration, thread: .current) { semaphore.signal() }
        switch enlist(waiter) {
        case .done: return true
        case .wouldDeadlock: return false
        case .waiting:
            semaphore.wait()
            return true
        }
    }

    /// Calls `resume` when no handler of the registration runs anywhere.
    static func whenQuiescent(_ registration: UInt, resume: @escaping @Sendable () -> Void) {
        guard enlist(Waiter(registration: registration, thread: nil, resume: resume)) == .done else { return }
        resume()
    }

    private enum Outcome { case done, waiting, wouldDeadlock }

    private static func enlist(_ waiter: Waiter) -> Outcome {
        waiters.withLock { waiters in
            // From here on a handler that returns calls `recheck`; the fence makes that sure for each that is not
            // seen as returned below.
            tether_set_waiters(waiters.count + 1)
            PostingThread.fenceOthers()
            let outcome: Outcome =
                waiter.isDone ? .done : closesCycle(waiter, among: waiters) ? .wouldDeadlock : .waiting
            if outcome == .waiting { waiters.append(waiter) }
            tether_set_waiters(waiters.count)
            return outcome
        }
    }

    /// Whether a thread that runs what `waiter` waits for waits, through any number of others, for `waiter`'s thread.
    private static func closesCycle(_ waiter: Waiter, among waiters: [Waiter]) -> Bool {
        guard let origin = waiter.thread else { return false }
        var pending = PostingThread.threads(running: waiter.registration).filter { $0 !== origin }
        var seen = Set<ObjectIdentifier>()
        while let thread = pending.popLast() {
            guard seen.insert(ObjectIdentifier(thread)).inserted else { continue }
            for other in waiters where other.thread === thread {
                for next in PostingThread.threads(running: other.registration) where next !== thread {
                    if next === origin { return true }
                    pending.append(next)
                }
            }
        }
        return false
    }
}
