internal import COwnerLifetime
internal import Synchronization

/// Waits until the handlers of a registration have returned (R2).
///
/// A handler runs in a *runner*: the `ThreadRecord` of a thread that posts or runs a block, or
/// the `AsyncRun` of an async handler's call. A waiter waits for its registration's
/// runners but its own.
///
/// Under the lock of `waiters`, a waiter sets its registration's bit in `tether_awaited`, reads
/// whether the registration has ended, fences all threads, and reads the hazard pointers. A thread
/// clears its hazard pointer after a handler, and then reads `tether_awaited`. At least one of the
/// two sees the other's write. Without waiters, a return costs one read of a word with the value 0.
enum HandlerWait {
    /// A `ThreadRecord` or an `AsyncRun`, by its identity. The object itself would be read by the
    /// comparison of two existentials in a debug build, which ThreadSanitizer takes for a race.
    private typealias Runner = ObjectIdentifier

    /// Whether a registration will start no further handler. The registration is retained for the
    /// question, and released without the lock.
    typealias End = (hasCome: Bool, registration: (any AnyObject & Sendable)?)

    private struct Waiter: Sendable {
        let registration: RegistrationAddress
        /// The runners around the waiter. The waiter does not wait for its own runners.
        let own: [Runner]
        /// The runs among `own`. Retained, so that no other run gets the identity of an ended run.
        let ownRuns: [AsyncRun]
        /// Whether the registration will start no further handler; asked under the lock. Always
        /// true for a registration that has ended before the wait.
        let end: @Sendable () -> End
        let resume: @Sendable () -> Void

        init(
            for registration: RegistrationAddress, on thread: ThreadRecord? = nil,
            end: @escaping @Sendable () -> End, resume: @escaping @Sendable () -> Void
        ) {
            self.registration = registration
            self.end = end
            self.resume = resume
            ownRuns = AsyncRun.allCurrent
            let threads = thread.map { [ObjectIdentifier($0)] } ?? []
            own = threads + ownRuns.map { ObjectIdentifier($0) }
        }

        /// Whether the waiter waits inside a runner, which cannot return before the waiter is
        /// resumed.
        func isInside(_ runner: Runner) -> Bool { own.contains(runner) }

        /// The runners of the registration that the waiter waits for.
        func awaited(of runners: [Runner]) -> [Runner] {
            runners.filter { !isInside($0) }
        }
    }

    /// By awaited registration, so a return costs nothing for the waiters of other registrations.
    private static let waiters = Locked<[RegistrationAddress: [Waiter]]>([:], rank: .waiters)

    /// Waits until the end has come and the registration's handlers on other threads have
    /// returned. False if the wait would close a cycle.
    static func wait(
        for registration: RegistrationAddress,
        end: @escaping @Sendable () -> End = { (true, nil) }
    ) -> Bool {
        let hasReturned = Signal()
        let canEnd = add(
            Waiter(for: registration, on: .current, end: end) { hasReturned.give() })
        if canEnd { hasReturned.wait() }
        return canEnd
    }

    /// Calls `resume` when the end has come and no handler of the registration runs, except the
    /// async calls that the current task is in. False, without a call, if the wait would close a
    /// cycle.
    static func whenReturned(
        _ registration: RegistrationAddress,
        end: @escaping @Sendable () -> End = { (true, nil) },
        resume: @escaping @Sendable () -> Void
    ) -> Bool {
        add(Waiter(for: registration, end: end, resume: resume))
    }

    /// Called after a handler's return and after a registration's end, if `tether_is_awaited`.
    /// Resumes the waiters that await nothing any more.
    static func resumeWaiters(_ registration: RegistrationAddress) {
        // Released without the lock, and before a waiter goes on.
        var ends: [End] = []
        let resumed = waiters.withLock { waiters -> [Waiter] in
            guard let waiting = waiters[registration] else { return [] }
            // The ends and the runners are read once, ends first as in `add`: handlers may return
            // meanwhile, and each waiter must be in exactly one of the two lists. Other threads
            // fence themselves, because there is a waiter; see `EpochGuard.attend`.
            ends = waiting.map { $0.end() }
            atomicMemoryFence(ordering: .sequentiallyConsistent)
            let runners = runners(of: registration)
            var resumed: [Waiter] = []
            var remaining: [Waiter] = []
            for (waiter, end) in zip(waiting, ends) {
                if end.hasCome, waiter.awaited(of: runners).isEmpty {
                    resumed.append(waiter)
                } else {
                    remaining.append(waiter)
                }
            }
            waiters[registration] = remaining.isEmpty ? nil : remaining
            if waiters.isEmpty { tether_end_awaiting() }
            return resumed
        }
        ends = []
        for waiter in resumed { waiter.resume() }
    }

    /// Whether a thread or a task waits for a registration's handlers.
    static func isAwaited(_ registration: RegistrationAddress) -> Bool {
        waiters.withLock { $0[registration] != nil }
    }

    /// Whether a handler of a registration is running, without a fence: a handler just begun
    /// elsewhere may be missed.
    static func isRunning(_ registration: RegistrationAddress) -> Bool {
        !runners(of: registration).isEmpty
    }

    private static func runners(of registration: RegistrationAddress) -> [Runner] {
        // Threads first, because an async call begins before its thread clears the hazard pointer.
        let threads = EpochGuard.threads(calling: registration).map { ObjectIdentifier($0) }
        guard let run = AsyncRun.underWay(for: registration) else { return threads }
        return threads + [ObjectIdentifier(run)]
    }

    /// Adds a waiter, or resumes it at once. False, without either, if the wait would close a
    /// cycle, and never return.
    private static func add(_ waiter: Waiter) -> Bool {
        // Released without the lock, and before the waiter goes on.
        var end: End = (false, nil)
        let (isOver, wouldDeadlock) = waiters.withLock { waiters in
            tether_begin_awaiting(waiter.registration.bits)
            // In this order: a handler that begins later finds the end, and one that began before
            // is among the runners. Others may end the registration at any time.
            end = waiter.end()
            EpochGuard.fenceOthers()
            let runners = runners(of: waiter.registration)
            let awaited = waiter.awaited(of: runners)
            let isOver = end.hasCome && awaited.isEmpty
            // A waiter in a handler of the registration, which makes its deliveries one after the
            // other, prevents the end that it waits for.
            let preventsEnd = !end.hasCome && runners.contains(where: waiter.isInside)
            let wouldDeadlock = preventsEnd || closesCycle(waiter, awaited, waiters)
            if !isOver, !wouldDeadlock {
                waiters[waiter.registration, default: []].append(waiter)
            }
            if waiters.isEmpty { tether_end_awaiting() }
            return (isOver, wouldDeadlock)
        }
        end.registration = nil
        if isOver { waiter.resume() }
        return !wouldDeadlock
    }

    /// Whether an awaited runner waits for the waiter's own runners, directly or through
    /// others.
    private static func closesCycle(
        _ waiter: Waiter, _ awaited: [Runner], _ waiters: [RegistrationAddress: [Waiter]]
    ) -> Bool {
        guard !waiter.own.isEmpty else { return false }
        var pending = awaited
        var seen: Set<Runner> = []
        while let runner = pending.popLast() {
            if waiter.isInside(runner) { return true }
            guard seen.insert(runner).inserted else { continue }
            for other in waiters.values.joined() where other.isInside(runner) {
                pending += other.awaited(of: runners(of: other.registration))
            }
        }
        return false
    }
}
