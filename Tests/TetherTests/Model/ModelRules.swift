/// What is made of an operation before it is performed, on the model and the library alike, where the two would not have to
/// agree.
struct ModelRules {
    let mode: LifetimeMode
    /// How many observers and sequences were registered with Foundation's center.
    private var foundationNames = 0

    init(mode: LifetimeMode) {
        self.mode = mode
    }

    // By the sweep, one that is owner and sender may be found to have gone as the one, and not yet as the other.

    private func owner(_ place: Int?) -> Int? {
        place.map { mode == .sweep && $0 != ModelOperation.dying ? $0 / 2 : $0 }
    }

    private func sender(_ place: Int) -> Int {
        mode == .sweep && place != ModelOperation.dying ? 2 + place / 2 : place
    }

    /// `nil` for an operation that is not to be performed.
    mutating func registered(_ asked: Observation, isThere: (Int?) -> Bool) -> Observation? {
        var observation = asked
        observation.owner = owner(asked.owner)
        if case .object(let place, let form) = asked.sender { observation.sender = .object(sender(place), form: form) }
        if asked.center >= Places.centers {
            observation.sender = posted(observation.sender, on: asked.center)
            observation.isFoundations = false
        }
        if case .object(let place, _) = observation.sender, !isThere(place) { return nil }
        if !isThere(observation.owner) { observation.owner = nil }
        if observation.usesFoundationsCalls {
            observation.scheduler = nil
            observation.once = false
            observation.key = nil
            if observation.owner != nil { observation.keepsToken = false }
        }
        if observation.owner == nil { observation.keepsToken = true }
        guard asked.center == Places.foundation else { return observation }
        guard let name = newName() else { return nil }
        observation.name = name
        return observation
    }

    mutating func registered(_ asked: SequenceObservation, isThere: (Int?) -> Bool) -> SequenceObservation? {
        var sequence = asked
        sequence.owner = owner(asked.owner)
        sequence.sender = asked.sender.map(sender)
        guard isThere(sequence.sender) else { return nil }
        if !isThere(sequence.owner) { sequence.owner = nil }
        guard asked.center == Places.foundation else { return sequence }
        guard let name = newName() else { return nil }
        sequence.name = name
        return sequence
    }

    /// Foundation's center calls observers in an order of its own (M3), so that each has a name for itself there.
    private mutating func newName() -> Int? {
        guard foundationNames < Places.names else { return nil }
        foundationNames += 1
        return foundationNames - 1
    }

    /// The name of a post; on Foundation's center, that of the one who registered so many before the last.
    func posted(_ name: Int, on center: Int) -> Int? {
        guard center == Places.foundation else { return name }
        return name < foundationNames ? foundationNames - 1 - name : nil
    }

    /// Values and forms of objects are for Tether's own center.
    func posted(_ sender: ModelOperation.Sender, on center: Int) -> ModelOperation.Sender {
        guard center >= Places.centers else { return sender }
        return if case .object(let place, _) = sender { .object(place) } else { .nobody }
    }
}
