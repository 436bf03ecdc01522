internal import COwnerLifetime
internal import Dispatch

/// Waiting until a registration's handlers have returned (R2).
enum Quiescence {
    private struct Waiter {
        let registration: UInt
        /// Who waits, and is not waited for: a thread, and the call of an async handler; nobody that is known, where
        /// an async function waits that no handler has called.
        let callers: [any AnyObject & Sendable]
        let resume: @Sendable () -> Void
        /// Where posting threads see that it waits.
        var place: Int32 = 0

        var isDone: Bool { Quiescence.runners(of: registration, except: callers).isEmpty }
    }

    private static let waiters = Guarded<[Waiter]>([])

    /// To be called when a handler has returned.
    static func handlerReturned(_ registration: UInt) {
        if tether_is_waited_for(registration) { recheck() }
    }

    /// Lets those go on whose handlers have all returned.
    private static func recheck() {
        let done = waiters.withLock { waiters in
            // Asked once for each: a handler may return at any moment, and who is taken out must be let go on.
            let isDone = waiters.map(\.isDone)
            let done = zip(waiters, isDone).filter(\.1).map(\.0)
            waiters = zip(waiters, isDone).filter { !$0.1 }.map(\.0)
            for waiter in done { tether_end_waiting(waiter.place) }
            return done
        }
        for waiter in done { waiter.resume() }
    }

    /// Waits on this thread for the other threads' handlers; false, at once, if one of those threads waits, directly
    /// or through others, for a handler of this thread.
    static func wait(for registration: UInt) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        let callers: [any AnyObject & Sendable] = [PostingThread.current] + callingRun
        switch enlist(Waiter(registration: registration, callers: callers) { semaphore.signal() }) {
        case .done: return true
        case .wouldDeadlock: return false
        case .waiting:
            semaphore.wait()
            return true
        }
    }

    /// Calls `resume` when no handler of the registration runs anywhere, but for the async one whose task this is.
    /// False, without a call, if another async handler waits for that one.
    static func whenQuiescent(_ registration: UInt, resume: @escaping @Sendable () -> Void) -> Bool {
        switch enlist(Waiter(registration: registration, callers: callingRun, resume: resume)) {
        case .done: resume()
        case .wouldDeadlock: return false
        case .waiting: break
        }
        return true
    }

    private static var callingRun: [any AnyObject & Sendable] { AsyncRun.current.map { [$0] } ?? [] }

    /// The threads and async calls in which a registration's handler runs.
    private static func runners(
        of registration: UInt, except callers: [any AnyObject & Sendable]
    ) -> [any AnyObject & Sendable] {
        // Threads first: an async call begins before its thread goes on.
        var runners: [any AnyObject & Sendable] = PostingThread.threads(running: registration)
        if let run = AsyncRun.underWay(for: registration) { runners.append(run) }
        return runners.filter { runner in !callers.contains { $0 === runner } }
    }

    private enum Outcome { case done, waiting, wouldDeadlock }

    private static func enlist(_ waiter: Waiter) -> Outcome {
        waiters.withLock { waiters in
            // From here on a handler that returns calls `recheck`; the fence makes that sure for each that is not
            // seen as returned below.
            let place = tether_begin_waiting(waiter.registration)
            PostingThread.fenceOthers()
            let outcome: Outcome =
                waiter.isDone ? .done : closesCycle(waiter, among: waiters) ? .wouldDeadlock : .waiting
            if outcome == .waiting {
                waiters.append(waiter)
                waiters[waiters.count - 1].place = place
            } else {
                tether_end_waiting(place)
            }
            return outcome
        }
    }

    /// Whether one who runs what `waiter` waits for waits, through any number of others, for who calls in `waiter`.
    private static func closesCycle(_ waiter: Waiter, among waiters: [Waiter]) -> Bool {
        guard !waiter.callers.isEmpty else { return false }
        var pending = runners(of: waiter.registration, except: waiter.callers)
        var seen = Set<ObjectIdentifier>()
        while let runner = pending.popLast() {
            // Not covered: two ways to one thread, which three that wait at the same time have by chance.
            guard seen.insert(ObjectIdentifier(runner)).inserted else { continue }
            for other in waiters where other.callers.contains(where: { $0 === runner }) {
                for next in runners(of: other.registration, except: other.callers) {
                    if waiter.callers.contains(where: { $0 === next }) { return true }
                    pending.append(next)
                }
            }
        }
        return false
    }
}
