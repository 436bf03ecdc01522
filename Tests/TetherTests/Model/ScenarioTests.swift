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

    @Test(arguments: Scenario.all.filter { $0.center == Places.foreign && $0.isIndependentOfOrder })
    func `F1 an observer over Foundation's center has the calls that a row says`(
        row: Scenario
    ) throws {
        let player = Player()
        let world = LibraryWorld(player: player, foreign: NotificationCenter())
        player.connect(to: world)
        let failure = try row.failure(of: world, player, byObserver: true) {
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
