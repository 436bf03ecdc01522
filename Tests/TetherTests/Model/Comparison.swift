@testable import Tether

/// Performs operations on the model and on the library, and compares what comes of each.
final class Comparison {
    private let reference: Player
    private let library: Player
    private let model: ReferenceWorld
    private let real: LibraryWorld

    /// A step after which the two differ, and in what.
    struct Divergence: CustomStringConvertible {
        let step: Int
        let differences: [String]

        var description: String { "after step \(step):\n" + differences.map { "  \($0)\n" }.joined() }
    }

    private init(_ setting: Setting) {
        if setting.mode == .sweep { OwnerLifetime.purge() }
        reference = Player(mode: setting.mode)
        library = Player(mode: setting.mode)
        let real = LibraryWorld(mode: setting.mode, player: library, isOnLoop: setting.isOnLoop)
        self.real = real
        model = ReferenceWorld(mode: setting.mode, player: reference) { [unowned real] in
            real.description(ofObject: $0)
        }
        reference.connect(to: model)
        library.connect(to: real)
    }

    struct Setting: Sendable {
        var mode = LifetimeMode.hook
        /// Whether posting queues are those of the thread's run loop, instead of a dispatch queue's.
        var isOnLoop = false
    }

    /// Lets go of everything, so that it must all have gone. Observers are also removed: one that is muted with its owner
    /// may keep a notification that holds the owner (O2).
    private static let clearing: [ModelOperation] =
        (0..<Places.schedulers).map { .runAll($0) } + (0..<Places.centers).map { .flush($0) }
        + (0..<Places.sequences).map { .leaveSequence($0) }
        + (0..<Places.centers).map { .renewQueue($0) } + (0..<Places.tokens).map { .drop($0) }
        + (0..<Places.objects).map { .end($0) } + (0..<Places.schedulers).map { .dropJobs($0) }
        + (0..<Places.allCenters).map { .remove(center: $0, name: nil, sender: nil, owner: nil) }
        + [.purge]

    /// The first difference that performing a sequence, and letting go of everything after it, makes.
    ///
    /// Audits are compared after every so many steps, all else after each.
    static func divergence(
        in operations: [ModelOperation], _ setting: Setting, auditing interval: Int = 1, performed: inout Int
    ) -> Divergence? {
        let comparison = Comparison(setting)
        defer { comparison.giveUp() }
        for (step, operation) in operations.enumerated() {
            let differences = comparison.perform(operation, auditing: step % interval == interval - 1)
            if !differences.isEmpty { return Divergence(step: step, differences: differences) }
        }
        performed += comparison.library.performed
        comparison.reference.isClearing = true
        comparison.library.isClearing = true
        for (step, operation) in clearing.enumerated() {
            var differences = comparison.perform(operation, auditing: step == clearing.count - 1)
            if differences.isEmpty, step == clearing.count - 1 { differences = comparison.leftovers() }
            if !differences.isEmpty { return Divergence(step: operations.count, differences: differences) }
        }
        return nil
    }

    static func divergence(in operations: [ModelOperation], _ setting: Setting = Setting()) -> Divergence? {
        var performed = 0
        return divergence(in: operations, setting, performed: &performed)
    }

    private func giveUp() {
        reference.isSilent = true
        library.isSilent = true
        real.clear()
    }

    private func perform(_ operation: ModelOperation, auditing: Bool) -> [String] {
        reference.step(operation)
        library.step(operation)
        var differences: [String] = []
        if reference.history != library.history {
            differences = reference.history.difference(from: library.history)
        }
        for token in library.takenTokens where model.isActive(token) != real.isActive(token) {
            differences.append("token \(token) is active: expected \(model.isActive(token))")
        }
        if auditing, differences.isEmpty { differences = audit() }
        return differences
    }

    private func audit() -> [String] {
        var differences: [String] = []
        func compare<Value: Equatable>(_ what: String, _ expected: Value, _ found: Value) {
            if expected != found { differences += ["\(what): expected \(expected)", "\(what): found \(found)"] }
        }
        for center in 0..<Places.allCenters {
            let (expected, found) = (model.picture(ofCenter: center), real.picture(ofCenter: center))
            if expected == found { continue }
            for (index, (row, other)) in zip(expected.rows, found.rows).enumerated() {
                compare("center \(center), row \(index)", row, other)
            }
            compare("center \(center), rows", expected.rows.count, found.rows.count)
            compare("center \(center), posts", expected.posts, found.posts)
            compare("center \(center), closures", expected.closures, found.closures)
        }
        for token in library.takenTokens {
            compare("token \(token)", model.picture(ofToken: token), real.picture(ofToken: token))
        }
        for object in 0..<Places.objects {
            compare("attached to \(object)", model.attachedCount(to: object), real.attachedCount(to: object))
        }
        return differences
    }

    /// What is left when everything was let go of (M9, R8).
    private func leftovers() -> [String] {
        var left: [String] = []
        // A thread that was ended in a post keeps its center and its sender, too, and the center its observers.
        let mayLeave =
            reference.hasLeftThread && reference.liveCaptures == library.liveCaptures
            && reference.liveObjects == library.liveObjects
        for (name, player) in [("model", reference), ("library", library)]
        where player.liveCaptures + player.liveObjects > 0 && !mayLeave {
            left.append("the \(name) leaves \(player.liveCaptures) captures and \(player.liveObjects) objects")
        }
        for center in 0..<Places.allCenters where !real.isEmpty(center) { left.append("center \(center) is not empty") }
        return left
    }
}
