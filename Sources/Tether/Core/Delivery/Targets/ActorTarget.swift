/// An actor that owns a handler: a block is a task on the actor, with the priority of the post's
/// task or thread (P2). The task retains the actor while the block waits. The target does not,
/// because observers do not retain their owner (O2).
/// SAFETY: the reference is a constant and Sendable.
final class ActorTarget<Owner: Actor>: BlockTarget, @unchecked Sendable {
    private let reference: ObjectReference<Owner>

    init(_ actor: Owner) {
        reference = ObjectReference(actor)
        super.init(queue: ObjectIdentifier(actor), order: .prioritized, sharesBlocks: true)
    }

    override var description: String { "actor \(Owner.self)" }
    override var runsTasks: Bool { true }
    /// An actor may have an executor that runs a job at once.
    override var mayRunInSchedule: Bool { true }

    override func schedule(_ block: __owned Block) {
        guard let actor = reference.retained else { return block.drop() }
        // SAFETY: isolation does not change the form of a function; `begin` only makes a task.
        unsafe unsafeBitCast(ActorTarget.begin, to: ((Block, any Actor) -> Void).self)(block, actor)
    }

    /// Makes a task that begins on the actor. A task made outside would first need one of the
    /// threads shared by all tasks, which may all be blocked.
    private static func begin(_ block: Block, on actor: isolated any Actor) {
        // Detached, so that the handler inherits no task-local values. With the priority of the
        // post, because the actor's jobs of a lower priority run later: code that posts and then
        // awaits the actor would read the state before the delivery.
        Task.detached(
            priority: Task.currentPriority,
            operation: inheritingIsolation {
                _ = actor
                block.run()
            })
    }

    /// Returns a function with the isolation of the place in the code.
    private static func inheritingIsolation(
        @_inheritActorContext _ operation: @escaping @isolated(any) @Sendable () async -> Void
    ) -> @isolated(any) @Sendable () async -> Void {
        operation
    }
}

extension DeliveryTarget {
    /// The actor that owns a handler and isolates it.
    static func isolated<Owner: Actor>(to actor: Owner) -> DeliveryTarget {
        actor === MainActor.shared ? .main : DeliveryTarget(ActorTarget(actor))
    }
}
