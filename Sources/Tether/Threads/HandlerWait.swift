internal import COwnerLifetime
internal import Dispatch

/// Waiting until the handlers of a registration have returned (R2).
///
/// A handler runs in an *execution*: a thread that posts or runs a block, which its `ThreadRecord` stands for, or the call of an
/// async handler, which an `AsyncRun.Identity` stands for. A waiter waits for all executions of its registration but its own.
///
/// A waiter adds itself to `waiters`, sets a bit for its registration in `tether_awaited`, fences all threads, and then reads the hazard
/// pointers. A thread clears its hazard pointer when a handler has returned, and then reads that word. At least one of the two sees
/// what the other has written. While nobody waits, a return costs the read of a word that is 0.
///
/// Two handlers that wait for each other would never return. A waiter therefore first looks for a cycle: an
/// execution that it waits for, and that waits, directly or through others, for the waiter's own.
enum HandlerWait {
    /// A `ThreadRecord` or an `AsyncRun.Identity`.
    private typealias Execution = any AnyObject & Sendable

    private struct Waiter: Sendable {
        let registration: UInt
        /// The executions that the waiter itself is in. It does not wait for them.
        let own: [Execution]
        let resume: @Sendable () -> Void

        /// Whether an execution cannot return before this waiter is resumed.
        func blocks(_ execution: Execution) -> Bool { own.contains { $0 === execution } }

        /// Those of its registration's executions that it waits for.
        func awaited(of executions: [Execution]) -> [Execution] { executions.filter { !blocks($0) } }
    }

    /// By the registrations that are awaited, so that a return costs nothing for those that await another one.
    private static let waiters = Locked<[UInt: [Waiter]]>([:])

    /// Waits on this thread for the registration's handlers on other threads. False, at once, if that would close a cycle.
    static func wait(for registration: UInt) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        let own = [ThreadRecord.current] + ownRun
        switch add(Waiter(registration: registration, own: own) { semaphore.signal() }) {
        case .returned: return true
        case .wouldDeadlock: return false
        case .waiting:
            semaphore.wait()
            return true
        }
    }

    /// Calls `resume` when no handler of the registration runs, but for the async one that the current task belongs to. False,
    /// without a call, if that would close a cycle.
    static func whenReturned(_ registration: UInt, resume: @escaping @Sendable () -> Void) -> Bool {
        switch add(Waiter(registration: registration, own: ownRun, resume: resume)) {
        case .returned: resume()
        case .wouldDeadlock: return false
        case .waiting: break
        }
        return true
    }

    /// To be called when a handler has returned, where `tether_is_awaited`. Resumes the waiters that wait for nothing any more.
    static func handlerReturned(_ registration: UInt) {
        let resumed = waiters.withLock { waiters -> [Waiter] in
            guard var waiting = waiters[registration] else { return [] }
            // Read once, because handlers may return meanwhile, and each waiter must be in just one of the two lists.
            let executions = executions(of: registration)
            let resumed = waiting.filter { $0.awaited(of: executions).isEmpty }
            waiting.removeAll { $0.awaited(of: executions).isEmpty }
            waiters[registration] = waiting.isEmpty ? nil : waiting
            if waiters.isEmpty { tether_end_awaiting() }
            return resumed
        }
        for waiter in resumed { waiter.resume() }
    }

    /// Whether a thread or a task waits for a registration's handlers.
    static func isAwaited(_ registration: UInt) -> Bool { waiters.withLock { $0[registration] != nil } }

    /// Whether a handler of a registration is running, without a fence: one that has just begun elsewhere may be missed.
    static func isRunning(_ registration: UInt) -> Bool { !executions(of: registration).isEmpty }

    private static var ownRun: [Execution] { AsyncRun.current.map { [$0] } ?? [] }

    private static func executions(of registration: UInt) -> [Execution] {
        // Threads first, because an async call begins before its thread clears the hazard pointer.
        let threads: [Execution] = EpochGuard.threads(calling: registration)
        return threads + (AsyncRun.underWay(for: registration).map { [$0] } ?? [])
    }

    private enum Outcome { case returned, waiting, wouldDeadlock }

    private static func add(_ waiter: Waiter) -> Outcome {
        waiters.withLock { waiters in
            tether_begin_awaiting(waiter.registration)
            EpochGuard.fenceOthers()
            let awaited = waiter.awaited(of: executions(of: waiter.registration))
            let outcome: Outcome =
                awaited.isEmpty ? .returned : closesCycle(waiter, awaited, waiters) ? .wouldDeadlock : .waiting
            if outcome == .waiting { waiters[waiter.registration, default: []].append(waiter) }
            if waiters.isEmpty { tether_end_awaiting() }
            return outcome
        }
    }

    /// Whether one of the executions that a waiter awaits waits for the waiter's own, directly or through others.
    private static func closesCycle(_ waiter: Waiter, _ awaited: [Execution], _ waiters: [UInt: [Waiter]]) -> Bool {
        guard !waiter.own.isEmpty else { return false }
        var (pending, seen) = (awaited, Set<ObjectIdentifier>())
        while let execution = pending.popLast() {
            if waiter.blocks(execution) { return true }
            guard seen.insert(ObjectIdentifier(execution)).inserted else { continue }
            for other in waiters.values.joined() where other.blocks(execution) {
                pending += other.awaited(of: executions(of: other.registration))
            }
        }
        return false
    }
}

// MARK: Calls of async handlers

/// One call of an async handler, from the delivery that begins it until it has returned (R2).
///
/// Such a call may change threads, so no hazard pointer announces it. It retains its registration, whose address waiters await.
///
/// SAFETY: only the task that performs it reads or writes `work` and `registration`.
final class AsyncRun: @unchecked Sendable {
    /// The call of a handler, on the handler's actor.
    typealias Work = @Sendable (isolated (any Actor)?) async -> Void

    /// An object of its own, because tasks that the handler starts inherit it, and may outlive the call.
    final class Identity: Sendable {}

    /// The call that the current task belongs to: it is the handler's own task, a child of it, or a task that it has started.
    @TaskLocal static var current: Identity?

    /// The calls under way, by the addresses of their registrations. An observer has at most one at a time (P4).
    private static let underWay = Locked<[UInt: Identity]>([:])

    private var registration: (any AnyObject & Sendable)?
    private let address: UInt
    private let identity = Identity()
    private var work: Work?

    /// Begins a call, on a thread whose hazard pointer is the registration.
    init(of registration: any AnyObject & Sendable, _ work: @escaping Work) {
        self.registration = registration
        address = UInt(bitPattern: ObjectIdentifier(registration))
        self.work = work
        AsyncRun.underWay.withLock { [identity, address] in $0[address] = identity }
    }

    /// Calls the handler, releases its arguments, and ends the call. To be called once.
    ///
    /// All on the handler's actor. So the owner and the notification are released there (O9), and so are the captures, if this is
    /// the last to hold them.
    func perform(on actor: isolated (any Actor)?) async {
        await AsyncRun.$current.withValue(identity) {
            await work?(actor)
            // A `deinit` that waits for the observer is part of the call.
            work = nil
        }
        AsyncRun.underWay.withLock { [address] in $0[address] = nil }
        if tether_is_awaited(address) { HandlerWait.handlerReturned(address) }
        registration = nil
    }

    /// Whether the current task belongs to the call that is under way for a registration.
    static func isCurrent(for registration: UInt) -> Bool {
        guard let current else { return false }
        return underWay(for: registration) === current
    }

    /// The call that is under way for a registration.
    static func underWay(for registration: UInt) -> Identity? { underWay.withLock { $0[registration] } }
}
