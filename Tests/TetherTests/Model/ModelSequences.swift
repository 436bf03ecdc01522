/// How an async sequence is made.
struct SequenceObservation: Sendable {
    /// Where it goes.
    var place = 0
    var center = 0
    /// `nil` for any name.
    var name: Int?
    /// An object's place; `nil` for any sender.
    var sender: Int?
    /// An object's place.
    var owner: Int?
    var buffer = ModelOperation.Backlog.unbounded
}

extension SequenceObservation {
    var simpler: [SequenceObservation] {
        func with<Value: Equatable>(_ field: WritableKeyPath<SequenceObservation, Value>) -> [SequenceObservation] {
            let usual = SequenceObservation()[keyPath: field]
            guard self[keyPath: field] != usual else { return [] }
            var simpler = self
            simpler[keyPath: field] = usual
            return [simpler]
        }
        return with(\.buffer) + with(\.owner) + with(\.sender) + with(\.center)
    }

    /// What it registers, as an observer.
    var observation: Observation {
        Observation(
            center: center, name: name, sender: sender.map { .object($0) } ?? .nobody, owner: owner, keepsToken: false)
    }
}
