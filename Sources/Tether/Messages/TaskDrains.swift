/// The target of one observer with an async handler: a task that calls it for one message after the other (T3).
///
/// The task lives while something is pending. It awaits each call before it takes the next delivery, so that what is
/// pending stays where it can be dropped.
final class TaskDrains: DrainScheduler {
    private struct State: Sendable {
        var drains = FIFO<Drain>()
        var hasTask = false
        /// The call that the delivery which was taken last asks for.
        var run: AsyncRun?
    }

    private let state = Guarded(State())

    func schedule(_ drain: Drain) {
        let needsTask = state.withLock { state in
            state.drains.append(drain)
            defer { state.hasTask = true }
            return !state.hasTask
        }
        // Detached, because the poster's task-local values and priority are none of the handler's.
        if needsTask { Task.detached { [self] in await deliver() } }
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
