/// The target of one observer with an async handler: a task that calls it for one delivery after the other (P4, T3).
///
/// The task lives while something is pending. It awaits each call before it takes the next delivery, so that what is
/// pending stays where it can be dropped.
final class TaskDrains: DrainScheduler {
    private struct State: Sendable {
        var drains = FIFO<Drain>()
        var hasTask = false
        /// The task that is there, or was last; the number tells it from earlier ones.
        var task: Task<Void, Never>?
        var number: UInt64 = 0
        var isCancelled = false
        /// The call that the delivery which was taken last asks for.
        var run: AsyncRun?
    }

    private let state = Guarded(State())

    func schedule(_ drain: Drain) {
        let number = state.withLock { state -> UInt64? in
            state.drains.append(drain)
            guard !state.hasTask else { return nil }
            state.hasTask = true
            state.number += 1
            return state.number
        }
        guard let number else { return }
        // Detached, because the poster's task-local values and priority are none of the handler's.
        let task = Task.detached { [self] in await deliver() }
        let isCancelled = state.withLock { state in
            if state.number == number { state.task = task }
            return state.isCancelled
        }
        // Not covered: the observer ended between the two locks.
        if isCancelled { task.cancel() }
    }

    /// Cancels the call that is under way, and any that is made from now on.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task.take()
        }
        task?.cancel()
    }

    /// Takes the call that a delivery asks for; called by the handler that the drain calls.
    func take(_ run: AsyncRun) {
        state.withLock { $0.run = run }
    }

    private func deliver() async {
        while let drain = state.withLock({ state in
            let drain = state.drains.popFirst()
            state.hasTask = drain != nil
            return drain
        }) {
            drain.run(atMost: 1)
            await state.withLock { $0.run.take() }?.perform()
        }
    }
}
