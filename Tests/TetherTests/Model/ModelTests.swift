import Foundation
import Testing
import Tether

/// Random sequences of everything that can be done on one thread at a time, on the library and on a model of it that was
/// written from the contract: lists and loops, with no thought of speed.
///
/// What is delivered and in which order, what is released and when, and what tokens and audits tell must be the same.
/// `TETHER_MODEL_OPERATIONS` says how many operations to perform, `TETHER_MODEL_SEED` with which sequence to begin. With
/// `TETHER_MODEL_TRACE=1` each sequence is printed before it begins, for one that ends the process.
@Suite struct ModelTests {
    // In processes of their own: an audit of the process that another test takes holds observers for a moment, and the
    // sweep is one for all tests.
    @Test func `M R O D Q library and model agree, where ends are seen as they happen`() async {
        await #expect(processExitsWith: .success) { ModelRun.perform(.hook) }
    }

    @Test func `O10 library and model agree, where ends are left to the sweep`() async {
        await #expect(processExitsWith: .success) { ModelRun.perform(.sweep) }
    }
}

private enum ModelRun {
    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }

    /// Performs half of the operations, in one mode.
    static func perform(_ mode: LifetimeMode) {
        let count = (number("TETHER_MODEL_OPERATIONS") ?? 200_000) / 2
        var seed = UInt64(number("TETHER_MODEL_SEED") ?? 1)
        var performed = 0
        while performed < count {
            let setting = Comparison.Setting(mode: mode, isOnLoop: seed.isMultiple(of: 2))
            let operations = ModelGenerator.sequence(seed: seed)
            if number("TETHER_MODEL_TRACE") == 1 { print("seed \(seed), \(mode)\n\(source(of: operations))") }
            if let first = Comparison.divergence(in: operations, setting, auditing: 16, performed: &performed) {
                Issue.record("\(report(first, seed: seed, operations, setting))")
                return
            }
            seed += 1
        }
    }

    private static func report(
        _ first: Comparison.Divergence, seed: UInt64, _ operations: [ModelOperation], _ setting: Comparison.Setting
    ) -> String {
        let shortest = Shrinking.shortest(Array(operations.prefix(first.step + 1))) {
            Comparison.divergence(in: $0, setting) != nil
        }
        let divergence = Comparison.divergence(in: shortest, setting) ?? first
        return """
            seed \(seed), \(setting.mode)\(setting.isOnLoop ? ", on the run loop" : ""), \(divergence)
            \(source(of: shortest))
            """
    }

    private static func source(of operations: [ModelOperation]) -> String {
        "[\n" + operations.map { "    \($0),\n" }.joined() + "]"
    }
}
