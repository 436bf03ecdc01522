/// The deliveries to an async handler: a task makes one call after the other (P4, T3).
///
/// The task lives while blocks wait, and until its last call has returned. The task changes to the
/// handler's actor before a block runs, so a delivery stays pending until the actor is free. The
/// task awaits the handler's call before the next block runs.
/// SAFETY: `state` is protected by its lock; `actor` is a constant; only the task, of which there
/// is one at a time, reads or writes `requestedRun`.
final class AsyncHandlerTarget: BlockTarget, @unchecked Sendable {
    private struct State: Sendable {
        var blocks = FIFO<Block>()
        /// The running task.
        var task: Task<Void, Never>?
    }

    private let state = Locked(State())
    /// The actor that isolates the handler.
    private let actor: (any Actor)?
    /// The call requested by the last block.
    fileprivate var requestedRun: AsyncRun?

    init(on actor: (any Actor)?) {
        self.actor = actor
        // Each block takes the oldest delivery, and only one, because the task performs one call
        // for each block. Each observer has its own target and its own blocks, so the queue is of
        // no consequence.
        super.init(
            queue: ObjectIdentifier(AsyncHandlerTarget.self), order: .unplaced, sharesBlocks: false)
    }

    override var description: String { "task" }
    override var runsTasks: Bool { true }
    override var isCurrent: Bool { actor === MainActor.shared && MainQueue.isCurrent }

    override func schedule(_ block: __owned Block) {
        state.withLock { state in
            state.blocks.append(block)
            if state.task != nil { return }
            // Detached, so that the handler inherits no task-local values of the posting thread.
            // The priority is that of the first post (P4).
            state.task = Task.detached(priority: Task.currentPriority) { [self] in await deliver() }
        }
    }

    /// Cancels the running call.
    func cancel() { state.withLock(\.task)?.cancel() }

    private func deliver() async {
        while let block = state.withLock({ state -> Block? in
            let block = state.blocks.popFirst()
            if block == nil { state.task = nil }
            return block
        }) {
            await run(block, on: actor)
        }
    }

    /// Runs on the handler's actor, so that the notification is released there, too (O9).
    private func run(_ block: Block, on actor: isolated (any Actor)?) async {
        block.run()
        await requestedRun.take()?.perform(on: actor)
    }
}

/// SAFETY: `reference` is set before the registration is published, and is constant afterwards.
final class AsyncHandlerHook: RegistrationHook, @unchecked Sendable {
    private let blockTarget: AsyncHandlerTarget
    private var reference: Unowned<Registration>?

    init(on actor: (any Actor)?) { blockTarget = AsyncHandlerTarget(on: actor) }

    var target: DeliveryTarget { DeliveryTarget(blockTarget) }

    override func attached(to registration: Registration) { reference = Unowned(registration) }

    /// Passes a call to the task, which is on the handler's actor. Called in a delivery.
    func call(_ work: @escaping AsyncRun.Work) {
        guard let registration = reference?.retained else { return }
        let site = registration.site
        registration.mailbox?.asyncCallBegins()
        assert(blockTarget.requestedRun == nil, "a block makes one delivery here")
        blockTarget.requestedRun = AsyncRun(of: registration) { actor in
            let begun = Events.report(.asyncCall(site))
            await work(actor)
            Events.endAsync(begun)
            if registration.isClaimed { registration.end(because: .usedUp) }
            registration.mailbox?.asyncCallReturned()
        }
    }

    override var callsReturnLater: Bool { true }

    /// Cancels the running call, unless the registration ended after its last delivery (M5, R11),
    /// or the call itself has ended the registration.
    override func ended(_ registration: Registration, because cause: EndCause) {
        let followsLastDelivery = cause == .senderEnded || cause == .finished
        let hasEndedItself = AsyncRun.isCurrent(for: registration.address)
        if !followsLastDelivery, !hasEndedItself { blockTarget.cancel() }
    }
}
