/// An actor, by a reference that does not keep it: observers do not keep their owner (O2).
protocol ActorReferring: Sendable {
    var identity: ObjectIdentifier { get }
    var description: String { get }

    /// The actor, held, unless it has gone.
    func take() -> (any Actor)?
}
