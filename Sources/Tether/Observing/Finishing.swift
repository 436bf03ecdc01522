internal import Dispatch

// `finish()`: the graceful end of one observer, of an owner's observers, or of a center's (R11).

/// Observers that take no further post and end after their pending deliveries, and the wait for
/// their ends.
///
/// *The way of one end*: `Registration.beginFinishing` closes the mailbox for posts. When nothing is
/// pending and no call runs, `Mailbox.settle` decides on the end, which `Registration.end` makes. Its
/// last act, and each return of a handler, look for the waiting caller (`HandlerWait`).
///
/// An owner's work ends in this order: its loops take what waits at a center, and any other loop
/// stops between two elements; its tasks are cancelled when all else has ended. So no handler under
/// way is cancelled, and a task can still save what the handlers left.
private struct Finishing {
    /// Observers, loops of their owner, and loops that read the center's sequences. A wait inside the
    /// handler of one of them is refused.
    private var awaited: [Unowned<Registration>] = []
    /// The owner's tasks that the caller runs in. They are cancelled last, because a cancelled task
    /// does not wait.
    private var callersTasks: [Unowned<Registration>] = []
    /// The owner whose tasks end behind all others; `nil` for the observers of a center, and for one
    /// observer or task.
    private let owner: OwnerObservers?

    /// All observers stop taking posts before the first wait, so a handler that posts gives them
    /// nothing more.
    init(_ references: [Unowned<Registration>], of owner: OwnerObservers? = nil) {
        self.owner = owner
        // Asked before the ends, after which a sequence's registration is not found.
        let readers = references.compactMap { $0.live?.targetStandIn?.reader }
        for reference in references {
            switch reference.work {
            case .task where AsyncRun.isCurrent(for: reference.registrationAddress):
                callersTasks.append(reference)
            case .task where owner != nil:
                break
            default:
                awaited.append(reference)
            }
        }
        // One at a time is retained, so each releases its captures before the next one's end.
        for reference in awaited {
            reference.live?.beginFinishing()
        }
        awaited += readers
    }

    private static func end(_ tasks: [Unowned<Registration>]) {
        for task in tasks {
            task.live?.end(because: .finished)
        }
    }

    /// The owner's present tasks but for the caller's, to be cancelled and waited for behind all
    /// others.
    private var tasks: [Unowned<Registration>] {
        guard let owner else { return [] }
        var references = owner.references
        while true {
            let tasks = references.filter { reference in
                reference.work == .task && !AsyncRun.isCurrent(for: reference.registrationAddress)
            }
            if !tasks.isEmpty { return tasks }
            // A task that has returned since the list was made may have started another one.
            let known = references.map(\.registrationAddress)
            references = owner.references
            if references.map(\.registrationAddress) == known { return [] }
        }
    }

    /// Ends the tasks without the caller, which keeps an observer from its end.
    private func endTasksLater() {
        if owner != nil { Task.detached { _ = await wait() } }
    }

    // MARK: The blocking wait

    /// Blocks until all observers have ended and their handlers on other threads have returned.
    func wait() -> NotificationObserver.WaitResult {
        guard Finishing.wait(for: awaited) else {
            endTasksLater()
            return .wouldDeadlock
        }
        var haveReturned = true
        // A task may have started another one.
        while haveReturned, case let tasks = tasks, !tasks.isEmpty {
            Finishing.end(tasks)
            haveReturned = Finishing.wait(for: tasks)
        }
        Finishing.end(callersTasks)
        return haveReturned ? .finished : .wouldDeadlock
    }

    /// Returns false if the wait for one of the observers could not end.
    private static func wait(for references: [Unowned<Registration>]) -> Bool {
        var haveEnded = true
        for reference in references {
            let needsCaller = reference.retained?.needsThisThread == true
            let hasEnded =
                !needsCaller
                && HandlerWait.wait(for: reference.registrationAddress) { reference.end }
            if !hasEnded { haveEnded = false }
        }
        return haveEnded
    }

    // MARK: The suspending wait

    /// Suspends until all observers have ended and their handlers have returned. If the task is
    /// cancelled, the observers end as by `cancel()`.
    func wait() async -> NotificationObserver.WaitResult {
        let cancelled = awaited + tasks
        let (haveEnded, haveReturned) = await withTaskCancellationHandler {
            guard await Finishing.wait(for: awaited) else { return (false, true) }
            return (true, await endTasks())
        } onCancel: {
            // The canceller holds a lock of the runtime, and an end releases captures.
            DispatchQueue.global().async {
                for reference in cancelled {
                    reference.live?.end()
                }
            }
        }
        guard haveEnded else {
            endTasksLater()
            return .wouldDeadlock
        }
        // Behind the handler of a cancellation: this one is no reason to end observers that the
        // call could not wait for.
        Finishing.end(callersTasks)
        return haveReturned ? .finished : .wouldDeadlock
    }

    /// Cancels the tasks and waits for them, and for those that they start. A cancelled caller waits
    /// for no further one. Returns false if the wait could not end.
    private func endTasks() async -> Bool {
        var haveReturned = true
        repeat {
            let tasks = tasks
            if tasks.isEmpty { return haveReturned }
            Finishing.end(tasks)
            haveReturned = await Finishing.wait(for: tasks)
        } while haveReturned && !Task.isCancelled
        Finishing.end(tasks)
        return haveReturned
    }

    /// Returns false if the wait for one of the observers could not end.
    private static func wait(for references: [Unowned<Registration>]) async -> Bool {
        var haveEnded = true
        for reference in references {
            let hasEnded = await withCheckedContinuation { continuation in
                let canEnd = HandlerWait.whenReturned(
                    reference.registrationAddress, end: { reference.end },
                    resume: { continuation.resume(returning: true) })
                if !canEnd { continuation.resume(returning: false) }
            }
            if !hasEnded { haveEnded = false }
        }
        return haveEnded
    }
}

extension Unowned where Object: Registration {
    fileprivate var work: OwnedWork? { live?.workHook?.work }

    /// Whether the registration's end has begun. A deallocated registration has ended.
    fileprivate var end: HandlerWait.End {
        let registration = retained
        return (registration?.hasEnded != false, registration)
    }
}

extension Registration {
    /// Whether the registration cannot end while the calling thread is blocked: a delivery waits
    /// for this thread, or work under way for the main actor.
    fileprivate var needsThisThread: Bool {
        if let workHook {
            return workHook.needsMainActor && MainQueue.isCurrent
                && AsyncRun.underWay(for: address) != nil
        }
        return mailbox?.waitsForCaller == true
    }
}

extension NotificationObserver {
    private var finishing: Finishing { Finishing(reference.map { [$0] } ?? []) }

    /// Ends the observer after its pending deliveries, and waits until then.
    ///
    /// The observer takes no further post. The pending deliveries and a running call are made, then
    /// the observer ends, and the call returns. Use it where queued work must be handled before a
    /// program shuts down; `cancelAndWait()` drops the pending deliveries.
    ///
    /// A delivery that cannot run keeps the caller waiting: on a suspended queue, on a thread whose
    /// run loop does not run, or kept by a muted observer. So does a delivery that only the caller
    /// could make: in a handler on a serial queue, one that waits on that queue. There start a task
    /// that awaits `finish()`. A delivery that waits for the blocked thread itself, as one on the
    /// main queue does for the main thread, makes the result `.wouldDeadlock`. The rules of
    /// `cancelAndWait()` on locks and threads hold here, too: the caller must not have anything
    /// that a delivery needs.
    /// - Returns: `.wouldDeadlock`, at once, if the wait could not end: the caller is in a handler
    ///   of the observer, or in one that such a handler waits for, or blocks the thread that a
    ///   delivery waits for. The observer takes no further post all the same, and ends by itself
    ///   after its pending deliveries. A program that exits before loses them.
    @available(*, noasync, message: "write 'await'; at the top level of main.swift, in a task")
    public func finish() -> WaitResult { finishing.wait() }

    /// Ends the observer after its pending deliveries, and suspends until then.
    ///
    /// ```swift
    /// await token.finish()        // what was posted before has been handled
    /// ```
    ///
    /// See the blocking form. A delivery that cannot run is waited for until the task is cancelled.
    /// Then the observer ends as by `cancel()`, and pending deliveries are dropped.
    /// - Returns: `.wouldDeadlock`, at once, if the wait could not end. See the blocking form.
    @discardableResult
    public func finish() async -> WaitResult { await finishing.wait() }
}

extension OwnerObservers {
    private var finishing: Finishing { Finishing(references, of: self) }

    /// Ends all present observers after their pending deliveries, and waits until then.
    ///
    /// All take no further post from the beginning. The owner's loops over a center's sequence take
    /// what waits there, and any other loop stops between two elements. Then the owner's tasks are
    /// cancelled and waited for, also those that a handler has started meanwhile. The caller's own
    /// task is cancelled last, and not waited for.
    /// Closures of `OwnerLifetime.whenEnded(_:_:)` stay, and run at the owner's end. See
    /// `NotificationObserver.finish()`.
    /// - Returns: `.wouldDeadlock` if the wait for one of them could not end.
    @available(*, noasync, message: "write 'await'; at the top level of main.swift, in a task")
    public func finish() -> NotificationObserver.WaitResult { finishing.wait() }

    /// Ends all present observers after their pending deliveries, and suspends until then.
    ///
    /// If the task is cancelled, the observers end as by `cancel()`. See the blocking form.
    /// - Returns: `.wouldDeadlock` if the wait for one of them could not end.
    @discardableResult
    public func finish() async -> NotificationObserver.WaitResult { await finishing.wait() }
}

extension ObserverCenter {
    private var finishing: Finishing { Finishing(core.registrations()) }

    /// Ends all present observers of the center after their pending deliveries, and waits until
    /// then.
    ///
    /// All take no further post from the beginning. The call also waits for the loops of owners
    /// over the center's sequences, which take what waits there and return. An observer that is
    /// added later lives on. See `NotificationObserver.finish()`.
    /// - Returns: `.wouldDeadlock` if the wait for one of them could not end.
    @available(*, noasync, message: "write 'await'; at the top level of main.swift, in a task")
    public func finish() -> NotificationObserver.WaitResult { finishing.wait() }

    /// Ends all present observers of the center after their pending deliveries, and suspends until
    /// then.
    ///
    /// ```swift
    /// await ObserverCenter.default.finish()   // before a server exits
    /// ```
    ///
    /// If the task is cancelled, the observers end as by `cancel()`.
    /// - Returns: `.wouldDeadlock` if the wait for one of them could not end.
    @discardableResult
    public func finish() async -> NotificationObserver.WaitResult { await finishing.wait() }
}
