/// The target of one observer with an async handler: a task that calls it for one delivery after the other (P4, T3).
///
/// The task lives while something is pending. It goes to the handler's actor before it takes a delivery, and awaits the call
/// before the next: what is pending stays where it can be dropped, and the gate is passed where the handler runs (R1).
final class TaskDrains: DrainScheduler {
    private struct State: Sendable {
        var drains = FIFO<Drain>()
        var hasTask = false
        /// The task that is there, or was last; the number tells it from earlier ones.
        var task: Task<Void, Never>?
        var number: UInt64 = 0
        var isCancelled = false
        /// The actor that the handler is isolated to, until the observer ends.
        var actor: (any Actor)?
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

    /// Says which actor the handler is isolated to, before there is a delivery.
    func deliver(on actor: (any Actor)?) { state.withLock { $0.actor = actor } }

    /// Lets go of the actor, on which no call begins any more. With `cancelling` the call that is under way is cancelled.
    func end(cancelling: Bool) {
        let (task, actor) = state.withLock { state in
            if cancelling { state.isCancelled = true }
            return (state.task.take(), state.actor.take())
        }
        if cancelling { task?.cancel() }
        withExtendedLifetime(actor) {}
    }

    /// Takes the call that a delivery asks for; called by the handler that the drain calls.
    func take(_ run: AsyncRun) {
        state.withLock { $0.run = run }
    }

    private func deliver() async {
        while let (drain, actor) = state.withLock({ state -> (Drain, (any Actor)?)? in
            let drain = state.drains.popFirst()
            state.hasTask = drain != nil
            return drain.map { ($0, state.actor) }
        }) {
            await run(drain, on: actor)
        }
    }

    /// All on the handler's actor, so that the notification goes there, too (O9).
    private func run(_ drain: Drain, on actor: isolated (any Actor)?) async {
        drain.run(atMost: 1)
        await state.withLock { $0.run.take() }?.perform(on: actor)
    }
}
