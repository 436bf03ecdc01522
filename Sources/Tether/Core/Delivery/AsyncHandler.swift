/// The deliveries to an async handler: a task makes one call after the other (P4, T3).
///
/// The task lives while blocks wait. The task changes to the handler's actor before a block runs, so a delivery stays
/// pending until the actor is free. The task awaits the handler's call before the next block runs.
///
/// SAFETY: `state` is protected by its lock; `actor` is a constant; only the task, of which there is one at a time,
/// reads or writes `call`.
final class AsyncHandler: BoundTarget, @unchecked Sendable {
    private struct State: Sendable {
        var blocks = FIFO<Block>()
        var hasTask = false
        /// The running or last task. `number` counts the tasks.
        var task: Task<Void, Never>?
        var number: UInt64 = 0
        var isCancelled = false
    }

    private let state = Locked(State())
    /// The actor that isolates the handler.
    private let actor: (any Actor)?
    /// The call requested by the last block.
    fileprivate var call: AsyncRun?

    init(on actor: (any Actor)?) {
        self.actor = actor
        // Each block takes the oldest delivery, and only one, because the task performs one call for each block. Each
        // observer has its own target and its own block, so the place is of no consequence.
        super.init(place: ObjectIdentifier(AsyncHandler.self), isConcurrent: true)
    }

    override var description: String { "task" }

    override func schedule(_ block: Block) {
        let number = state.withLock { state -> UInt64? in
            state.blocks.append(block)
            guard !state.hasTask else { return nil }
            state.hasTask = true
            state.number += 1
            return state.number
        }
        guard let number else { return }
        // Detached, so that the handler inherits neither task-local values nor priority of the posting thread.
        let task = Task.detached { [self] in await deliver() }
        let isCancelled = state.withLock { state in
            if state.number == number { state.task = task }
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// Cancels the running call.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task.take()
        }
        task?.cancel()
    }

    private func deliver() async {
        while let block = state.withLock({ state -> Block? in
            let block = state.blocks.popFirst()
            state.hasTask = block != nil
            return block
        }) {
            await run(block, on: actor)
        }
    }

    /// Runs on the handler's actor, so that the notification is released there, too (O9).
    private func run(_ block: Block, on actor: isolated (any Actor)?) async {
        block.run()
        await call.take()?.perform(on: actor)
    }
}

/// SAFETY: `reference` is set before the registration is published, and is constant afterwards.
final class AsyncHandlerHook: RegistrationHook, @unchecked Sendable {
    private let handler: AsyncHandler
    private var reference: Unowned<Registration>?

    init(on actor: (any Actor)?) { handler = AsyncHandler(on: actor) }

    var target: DeliveryTarget { DeliveryTarget(handler) }

    override func attached(to registration: Registration) { reference = Unowned(registration) }

    /// Passes a call to the task, which is on the handler's actor. Called in a delivery.
    func call(_ work: @escaping AsyncRun.Work) {
        guard let registration = reference?.take() else { return }
        let site = registration.site
        if Events.areTraced {
            handler.call = AsyncRun(of: registration) { actor in
                let begun = Events.report(.asyncCall(site))
                await work(actor)
                if begun > 0 { Events.report(.asyncEnd(begun)) }
            }
        } else {
            handler.call = AsyncRun(of: registration, work)
        }
    }

    /// Cancels the running call, unless the sender has ended (M5), or the call itself has ended the registration.
    override func ended(_ registration: Registration) {
        let hasSenderEnded = registration.details?.sender?.reference.hasEnded ?? false
        let hasEndedItself = registration.isClaimed || AsyncRun.isCurrent(for: registration.address)
        if !hasSenderEnded, !hasEndedItself { handler.cancel() }
    }
}
