/// An actor that is not retained: observers do not retain their owner (O2).
protocol ActorReferring: Sendable {
    var identity: ObjectIdentifier { get }
    var description: String { get }

    func take() -> (any Actor)?
}

private final class ActorReference<Referred: Actor>: ActorReferring {
    private let reference: OwnerReference<Referred>
    let identity: ObjectIdentifier

    init?(_ actor: Referred) {
        if isBeingDeinitialised(actor) { return nil }
        reference = OwnerReference(actor)
        identity = ObjectIdentifier(actor)
    }

    var description: String { "actor \(Referred.self)" }

    func take() -> (any Actor)? { reference.take() }
}

/// An actor: a block is a task on the actor. The task retains the actor while the block waits.
/// SAFETY: the reference is a constant and Sendable.
final class ActorTarget: BoundTarget, @unchecked Sendable {
    private let reference: any ActorReferring

    init(_ target: DeliveryTarget, _ reference: any ActorReferring) {
        self.reference = reference
        super.init(target, place: reference.identity)
    }

    override func schedule(_ block: Block) {
        guard let actor = reference.take() else { return block.drop() }
        // SAFETY: isolation does not change the form of a function; `begin` only makes a task.
        unsafe unsafeBitCast(ActorTarget.begin, to: ((Block, any Actor) -> Void).self)(block, actor)
    }

    /// Makes a task that begins on the actor. A task made outside would first need one of the threads shared by all
    /// tasks, which may all be blocked.
    private static func begin(_ block: Block, on actor: isolated any Actor) {
        // Detached, so that the handler inherits neither task-local values nor priority of the posting thread.
        Task.detached(
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
    static func actor<Owner: Actor>(_ actor: Owner) -> DeliveryTarget {
        if actor === MainActor.shared { return .main }
        // An actor that is being deinitialised gets no observer, whatever the target (O8).
        guard let reference = ActorReference(actor) else { return .postingThread }
        return DeliveryTarget(kind: .actor(reference))
    }
}
