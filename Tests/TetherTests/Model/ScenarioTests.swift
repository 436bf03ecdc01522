import Foundation
import Testing
import Tether

/// The scenarios, on the library and the model, which must agree after each operation.
@Suite struct ScenarioTests {
    @Test(arguments: Scenario.all) func `M R O D library and model do what a row says`(
        row: Scenario
    ) throws {
        let comparison = Comparison()
        defer { comparison.giveUp() }
        let failure = try row.failure(of: comparison.real, comparison.library) {
            comparison.perform($0, auditing: true)
        }
        if let failure { Issue.record("\(failure)", sourceLocation: row.sourceLocation) }
        let leftovers = failure == nil ? comparison.clear() : []
        #expect(leftovers == [], sourceLocation: row.sourceLocation)
    }

    private static let fittingFoundation = Scenario.all.filter {
        $0.center == Places.foreign && $0.isIndependentOfOrder
    }

    /// Nobody can cancel a block of a dispatch queue.
    private static let onQueues = Scenario.all.flatMap { row in
        LibraryQueueKind.allCases.filter { kind in
            row.fitsQueues && (row.center != Places.foreign || row.isIndependentOfOrder)
                && (kind == .operationQueue || !row.text.contains("drop"))
        }
        .map { (row, $0) }
    }

    @Test(arguments: fittingFoundation)
    func `F1 an observer over Foundation's center has the calls that a row says`(
        row: Scenario
    ) throws {
        let player = Player()
        let world = LibraryWorld(player: player, foreign: NotificationCenter())
        try perform(row, by: player, on: world)
    }

    @Test(arguments: onQueues)
    func `D2 D4 an observer on a queue has the calls that a row says`(
        row: Scenario, kind: LibraryQueueKind
    ) throws {
        let player = Player()
        let world = LibraryWorld(
            player: player, foreign: NotificationCenter(),
            serial: kind.makeTarget(isBatching: false),
            batching: kind.makeTarget(isBatching: true))
        try perform(row, by: player, on: world)
    }

    /// Performs a row without the model.
    private func perform(_ row: Scenario, by player: Player, on world: LibraryWorld) throws {
        player.connect(to: world)
        let isFoundations = row.center == Places.foreign
        let failure = try row.failure(of: world, player, byObserver: isFoundations) {
            player.step($0)
            return []
        }
        if let failure { Issue.record("\(failure)", sourceLocation: row.sourceLocation) }
        player.isSilent = true
        world.clear()
    }

    @Test(arguments: 1...100 as ClosedRange<UInt64>) func `operations are read as printed`(
        seed: UInt64
    ) throws {
        let steps = ModelGenerator.steps(seed: seed)
        for operation in ModelGenerator.operations(steps, seed: seed) {
            let text = operation.description
            #expect(try ModelOperation.reading(text).map(\.description) == [text])
        }
    }
}
