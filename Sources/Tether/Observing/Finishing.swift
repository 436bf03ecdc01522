internal import Dispatch

// `finish()`: the graceful end of one observer, of an owner's observers, or of a center's (R11).

/// Observers that take no further post and end after their pending deliveries, and the wait for
/// their ends.
private struct Finishing {
    private let references: [Unowned<Registration>]
    /// The owner's task or loop that calls `finish()`, and those that it runs in. They are
    /// cancelled after the wait, because a cancelled task does not wait.
    private let callersTasks: [Unowned<Registration>]

    /// All observers stop taking posts before the first wait, so a handler that posts gives them
    /// nothing more.
    init(_ references: [Unowned<Registration>]) {
        var callersTasks: [Unowned<Registration>] = []
        var awaited: [Unowned<Registration>] = []
        for reference in references {
            if reference.isCallersTask {
                callersTasks.append(reference)
            } else {
                awaited.append(reference)
            }
        }
        self.callersTasks = callersTasks
        self.references = awaited
        for reference in awaited {
            reference.live?.beginFinishing()
        }
    }

    /// Blocks until all observers have ended and their handlers on other threads have returned.
    func wait() -> NotificationObserver.WaitResult {
        var result = NotificationObserver.WaitResult.finished
        for reference in references {
            let hasEnded = HandlerWait.wait(for: reference.registrationAddress) {
                reference.isClosed
            }
            if !hasEnded { result = .wouldDeadlock }
        }
        endCallersTasks()
        return result
    }

    /// Suspends until all observers have ended and their handlers have returned. If the task is
    /// cancelled, the observers end as by `cancel()`.
    func wait() async -> NotificationObserver.WaitResult {
        let result = await withTaskCancellationHandler {
            var result = NotificationObserver.WaitResult.finished
            for reference in references {
                let hasEnded = await Finishing.end(of: reference)
                if !hasEnded { result = .wouldDeadlock }
            }
            return result
        } onCancel: {
            // The canceller holds a lock of the runtime, and an end releases captures.
            DispatchQueue.global().async {
                for reference in references {
                    reference.live?.end()
                }
            }
        }
        // Behind the handler of a cancellation: this one is no reason to end observers that the
        // call could not wait for.
        endCallersTasks()
        return result
    }

    private func endCallersTasks() {
        for task in callersTasks {
            task.live?.end()
        }
    }

    private static func end(of reference: Unowned<Registration>) async -> Bool {
        await withCheckedContinuation { continuation in
            let canEnd = HandlerWait.whenReturned(
                reference.registrationAddress, hasEnded: { reference.isClosed },
                resume: { continuation.resume(returning: true) })
            if !canEnd { continuation.resume(returning: false) }
        }
    }
}

extension Unowned where Object: Registration {
    /// Whether the registration's end has begun. Retains nothing, so a lock may be held.
    fileprivate var isClosed: Bool {
        // SAFETY: the reference keeps the memory, whose state stays.
        unsafe unmanaged._withUnsafeGuaranteedRef { $0.hasEnded }
    }

    /// Whether the registration is that of a task or a loop of an owner, and the caller runs in it,
    /// or in a task that it started.
    fileprivate var isCallersTask: Bool {
        guard AsyncRun.isCurrent(for: registrationAddress) else { return false }
        return live?.workHook != nil
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
    /// that awaits `finish()`. The rules of `cancelAndWait()` on locks
    /// and threads hold here, too: the caller must not have anything that a delivery needs.
    /// - Returns: `.wouldDeadlock`, at once, if the wait could not end: the caller is in a handler
    ///   of the observer, or in one that such a handler waits for. The observer takes no further
    ///   post all the same, and ends by itself after its pending deliveries.
    @available(
        *, noasync,
        message:
            "Write 'await' before the call, which then suspends instead of blocking; at the top level of main.swift, in a task."
    )
    @discardableResult
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
    private var finishing: Finishing { Finishing(references) }

    /// Ends all present observers after their pending deliveries, and waits until then.
    ///
    /// All take no further post from the beginning. The tasks and loops of the owner are cancelled,
    /// and waited for; the caller's own is cancelled last, and not waited for. See
    /// `NotificationObserver.finish()`.
    /// - Returns: `.wouldDeadlock` if the wait for one of them could not end.
    @available(
        *, noasync,
        message:
            "Write 'await' before the call, which then suspends instead of blocking; at the top level of main.swift, in a task."
    )
    @discardableResult
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
    /// All take no further post from the beginning. An observer that is added later lives on. See
    /// `NotificationObserver.finish()`.
    /// - Returns: `.wouldDeadlock` if the wait for one of them could not end.
    @available(
        *, noasync,
        message:
            "Write 'await' before the call, which then suspends instead of blocking; at the top level of main.swift, in a task."
    )
    @discardableResult
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
