/// Drains on an actor: one task at a time, which delivers all that is pending in order.
///
/// A drain holds the actor while it waits for it; a mailbox does not, so that the actor may be the owner.
struct ActorDrains: DrainScheduler {
    let reference: any ActorReferring

    var heldActor: (any Actor)? { reference.take() }

    func schedule(_ drain: Drain) {
        guard let actor = drain.actor else { return drain.cancel() }
        // SAFETY: a function does not change its form with its isolation; this one only makes a task.
        unsafe unsafeBitCast(ActorDrains.begin, to: ((Drain, any Actor) -> Void).self)(drain, actor)
    }

    /// Makes a task that begins on the actor, whereas one made outside it would have to come there by way of the threads
    /// that all tasks share, which may all be blocked.
    private static func begin(_ drain: Drain, on actor: isolated any Actor) {
        // Detached, because the poster's task-local values and priority are none of the handler's.
        Task.detached(
            operation: inheritingIsolation {
                _ = actor
                drain.run()
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
        guard let reference = ActorReference(actor) else { return .poster }
        return DeliveryTarget(kind: .actor(reference))
    }
}
