/// An actor, by a reference that does not keep it: observers do not keep their owner (O2).
protocol ActorReferring: Sendable {
    var identity: ObjectIdentifier { get }
    var description: String { get }

    /// The actor, retained, unless it has been deallocated.
    func take() -> (any Actor)?
}

private final class ActorReference<Referred: Actor>: ActorReferring {
    private let reference: OwnerReference<Referred>
    let identity: ObjectIdentifier

    /// Refers to an actor; `nil` if it is being deinitialised.
    init?(_ actor: Referred) {
        if isBeingDeinitialised(actor) { return nil }
        reference = OwnerReference(actor)
        identity = ObjectIdentifier(actor)
    }

    var description: String { "actor \(Referred.self)" }

    func take() -> (any Actor)? { reference.take() }
}

/// An actor: a block is a task on it, which retains the actor while it waits.
final class ActorTarget: BoundTarget, @unchecked Sendable {
    private let reference: any ActorReferring

    init(_ target: DeliveryTarget, _ reference: any ActorReferring) {
        self.reference = reference
        super.init(target, place: reference.identity)
    }

    override var isCurrent: Bool { false }

    override func schedule(_ block: Block) {
        guard let actor = reference.take() else { return block.drop() }
        // SAFETY: a function does not change its form with its isolation; this one only makes a task.
        unsafe unsafeBitCast(ActorTarget.begin, to: ((Block, any Actor) -> Void).self)(block, actor)
    }

    /// Makes a task that begins on the actor. One that is made outside would have to come there by way of the threads that all
    /// tasks share, which may all be blocked.
    private static func begin(_ block: Block, on actor: isolated any Actor) {
        // Detached, because the posting thread's task-local values and priority are none of the handler's.
        Task.detached(
            operation: inheritingIsolation {
                _ = actor
                block.run()
            })
    }

    /// A function with the isolation of where it is written.
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
        // An actor that is being deinitialised gets no observer attached, on whatever target (O8).
        guard let reference = ActorReference(actor) else { return .postingThread }
        return DeliveryTarget(kind: .actor(reference))
    }
}
