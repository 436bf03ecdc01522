final class ActorReference<Referred: Actor>: ActorReferring {
    private let reference: OwnerReference<Referred>
    let identity: ObjectIdentifier

    /// Refers to an actor; `nil` if it is being deinitialised.
    init?(_ actor: Referred) {
        guard let reference = OwnerReference(actor) else { return nil }
        self.reference = reference
        identity = ObjectIdentifier(actor)
    }

    var description: String { "actor \(Referred.self)" }

    func take() -> (any Actor)? { reference.take() }
}
