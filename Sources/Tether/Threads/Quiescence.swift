internal import COwnerLifetime
internal import Dispatch

/// Waiting until a registration's handlers have returned (R2).
enum Quiescence {
    /// A thread, or the call of an async handler.
    private typealias Runner = any AnyObject & Sendable

    private struct Waiter {
        let registration: UInt
        /// The waiter, which is not waited for: a thread, and the call of an async handler; nobody that is known, where
        /// an async function waits that no handler has called.
        let callers: [Runner]
        /// Whether it keeps the main queue meanwhile.
        var blocksMain = false
        let resume: @Sendable () -> Void
        /// Where posting threads see that it waits.
        var place: Int32 = 0

        /// Whether a runner cannot return before this goes on.
        func stops(_ runner: Runner) -> Bool {
            callers.contains { $0 === runner } || blocksMain && (runner as? AsyncRun.Identity)?.needsMain == true
        }

        /// The runners that are waited for, of all in which the handler runs.
        func awaited(among runners: [Runner]) -> [Runner] {
            runners.filter { runner in !callers.contains { $0 === runner } }
        }
    }

    /// The waiters, by the registration that is waited for, so that a handler which returns is told to no others.
    private static let waiters = Guarded<[UInt: [Waiter]]>([:])

    /// To be called when a handler has returned.
    static func handlerReturned(_ registration: UInt) {
        if tether_is_waited_for(registration) { recheck(registration) }
    }

    /// Lets those go on that wait for a registration whose handlers have all returned.
    private static func recheck(_ registration: UInt) {
        let done = waiters.withLock { waiters -> [Waiter] in
            // Not covered: the return, where the return of another handler has let all of them go on meanwhile.
            guard let waiting = waiters[registration] else { return [] }
            // Asked once: a handler may return at any moment, and who is taken out must be let go on.
            let runners = runners(of: registration)
            var (left, done) = ([Waiter](), [Waiter]())
            for waiter in waiting {
                if waiter.awaited(among: runners).isEmpty { done.append(waiter) } else { left.append(waiter) }
            }
            waiters[registration] = left.isEmpty ? nil : left
            for waiter in done { tether_end_waiting(waiter.place) }
            return done
        }
        for waiter in done { waiter.resume() }
    }

    /// Waits on this thread for the other threads' handlers; false, at once, if one of those threads waits, directly
    /// or through others, for a handler of this thread, or needs the main queue, which this one keeps if it `blocksMain`.
    static func wait(for registration: UInt, blocksMain: Bool) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        let callers: [Runner] = [PostingThread.current] + callingRun
        let waiter = Waiter(registration: registration, callers: callers, blocksMain: blocksMain) { semaphore.signal() }
        switch enlist(waiter) {
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

    /// Whether someone waits for a registration's handlers. Posting threads ask no lock, and take for awaited what may be.
    static func isAwaited(_ registration: UInt) -> Bool { waiters.withLock { $0[registration] != nil } }

    /// Whether a handler of a registration is running, without a fence: one that has just begun elsewhere may be missed.
    static func isRunning(_ registration: UInt) -> Bool { !runners(of: registration).isEmpty }

    private static var callingRun: [Runner] { AsyncRun.current.map { [$0] } ?? [] }

    /// The threads and async calls in which a registration's handler runs.
    private static func runners(of registration: UInt) -> [Runner] {
        // Threads first: an async call begins before its thread goes on.
        var runners: [Runner] = PostingThread.threads(running: registration)
        if let run = AsyncRun.underWay(for: registration) { runners.append(run) }
        return runners
    }

    private enum Outcome { case done, waiting, wouldDeadlock }

    private static func enlist(_ waiter: Waiter) -> Outcome {
        waiters.withLock { waiters in
            // From here on a handler that returns calls `recheck`; the fence makes that sure for each that is not
            // seen as returned below.
            let place = tether_begin_waiting(waiter.registration)
            PostingThread.fenceOthers()
            let awaited = waiter.awaited(among: runners(of: waiter.registration))
            let outcome: Outcome =
                awaited.isEmpty ? .done : closesCycle(waiter, awaited, waiters) ? .wouldDeadlock : .waiting
            if outcome == .waiting {
                var waiter = waiter
                waiter.place = place
                waiters[waiter.registration, default: []].append(waiter)
            } else {
                tether_end_waiting(place)
            }
            return outcome
        }
    }

    /// Whether one of those that `waiter` awaits waits, through any number of others, for who calls in `waiter`.
    private static func closesCycle(_ waiter: Waiter, _ awaited: [Runner], _ waiters: [UInt: [Waiter]]) -> Bool {
        guard !waiter.callers.isEmpty else { return false }
        if awaited.contains(where: waiter.stops) { return true }
        var pending = awaited
        var seen = Set<ObjectIdentifier>()
        while let runner = pending.popLast() {
            // Not covered: two ways to one thread, which three that wait at the same time have by chance.
            guard seen.insert(ObjectIdentifier(runner)).inserted else { continue }
            for other in waiters.values.joined() where other.stops(runner) {
                for next in other.awaited(among: runners(of: other.registration)) {
                    if waiter.stops(next) { return true }
                    pending.append(next)
                }
            }
        }
        return false
    }
}
