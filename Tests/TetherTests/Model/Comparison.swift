import Tether

/// Performs operations on the model and on the library, and compares the results.
final class Comparison {
    private let reference = Player()
    let library = Player()
    private let model: ReferenceWorld
    let real: LibraryWorld

    /// A step after which the two differ, with the differences.
    struct Divergence: CustomStringConvertible {
        let step: Int
        let differences: [String]

        var description: String {
            "after step \(step):\n" + differences.map { "  \($0)\n" }.joined()
        }
    }

    init() {
        let real = LibraryWorld(player: library)
        self.real = real
        model = ReferenceWorld(player: reference) { [unowned real] in real.description(ofObject: $0)
        }
        reference.connect(to: model)
        library.connect(to: real)
    }

    /// Releases everything. Observers are also removed, because an observer that is muted with its
    /// owner may keep a notification that retains the owner (O2).
    private static let clearing: [ModelOperation] =
        (0..<Places.schedulers).map { .runAll($0) } + (0..<Places.centers).map { .flush($0) }
        + (0..<Places.sequences).map { .leaveSequence($0) }
        + (0..<Places.centers).map { .renewQueue($0) } + (0..<Places.tokens).map { .drop($0) }
        + (0..<Places.objects).map { .end($0) } + (0..<Places.schedulers).map { .cancelJobs($0) }
        + (0...Places.foreign).map { .remove(center: $0, name: nil, sender: nil, owner: nil) }

    /// The first difference while a sequence is performed and everything is released.
    ///
    /// Audits are compared after every `interval` steps, all other results after each step.
    static func divergence(
        in operations: [ModelOperation], auditing interval: Int = 1, performed: inout Int
    ) -> Divergence? {
        let comparison = Comparison()
        defer { comparison.giveUp() }
        for (step, operation) in operations.enumerated() {
            let differences = comparison.perform(
                operation, auditing: step % interval == interval - 1)
            if !differences.isEmpty { return Divergence(step: step, differences: differences) }
        }
        performed += comparison.library.performed
        let differences = comparison.clear()
        return differences.isEmpty
            ? nil : Divergence(step: operations.count, differences: differences)
    }

    static func divergence(in operations: [ModelOperation]) -> Divergence? {
        var performed = 0
        return divergence(in: operations, performed: &performed)
    }

    /// Releases everything. Returns the first differences, or else the leftovers.
    func clear() -> [String] {
        reference.isClearing = true
        library.isClearing = true
        for (step, operation) in Comparison.clearing.enumerated() {
            let isLast = step == Comparison.clearing.count - 1
            let differences = perform(operation, auditing: isLast)
            if !differences.isEmpty { return differences }
        }
        return leftovers()
    }

    func giveUp() {
        reference.isSilent = true
        library.isSilent = true
        real.clear()
    }

    /// Performs an operation on both. Returns the differences.
    func perform(_ operation: ModelOperation, auditing: Bool) -> [String] {
        reference.step(operation)
        library.step(operation)
        var differences: [String] = []
        if reference.history != library.history {
            differences = reference.history.difference(from: library.history)
        }
        for token in library.takenTokens where model.isActive(token) != real.isActive(token) {
            differences.append("token \(token) is active: expected \(model.isActive(token))")
        }
        if auditing, differences.isEmpty {
            let (expected, found) = (model.picture(), real.picture())
            if expected != found { differences = expected.differences(from: found) }
        }
        return differences
    }

    /// The leftovers after everything was released (M9, R8).
    private func leftovers() -> [String] {
        var left: [String] = []
        for (name, player) in [("model", reference), ("library", library)]
        where player.liveCaptures + player.liveObjects > 0 {
            left.append(
                "the \(name) leaves \(player.liveCaptures) captures and \(player.liveObjects) objects"
            )
        }
        return left
            + (0...Places.foreign).filter { !real.isEmpty($0) }.map { "center \($0) is not empty" }
    }
}
