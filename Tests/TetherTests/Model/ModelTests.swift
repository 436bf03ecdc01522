import Foundation
import Testing
import Tether

/// Random sequences of all operations on one thread, on the library and on a model. The model was
/// written from the contract, with lists and loops, and without regard to speed.
///
/// Both must make the same deliveries in the same order, and the same releases at the same moments,
/// and report the same by tokens and audits. `TETHER_MODEL_OPERATIONS` is the number of operations,
/// `TETHER_MODEL_SEED` the first sequence. With `TETHER_MODEL_TRACE=1` each sequence is printed
/// before it begins, to find a sequence that ends the process.
@Suite struct ModelTests {
    // In a process of its own, because another test's audit of the process would retain observers
    // for a moment.
    @Test func `M R O D Q library and model agree`() async {
        await #expect(processExitsWith: .success) { ModelRun.perform() }
    }
}

private enum ModelRun {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init)
    }

    static func perform() {
        let count = number("TETHER_MODEL_OPERATIONS") ?? 40_000
        var seed = UInt64(number("TETHER_MODEL_SEED") ?? 1)
        var performed = 0
        while performed < count {
            let steps = ModelGenerator.steps(seed: seed)
            let operations = ModelGenerator.operations(steps, seed: seed)
            if number("TETHER_MODEL_TRACE") == 1 {
                print("seed \(seed)\n\(source(of: operations))")
            }
            if let first = Comparison.divergence(
                in: operations, auditing: 16, performed: &performed)
            {
                Issue.record("\(report(first, seed: seed, steps))")
                return
            }
            seed += 1
        }
    }

    private static func report(
        _ first: Comparison.Divergence, seed: UInt64, _ steps: [ModelGenerator.Step]
    )
        -> String
    {
        let shortest = ModelGenerator.shortest(steps) {
            Comparison.divergence(in: ModelGenerator.operations($0, seed: seed)) != nil
        }
        var operations = ModelGenerator.operations(shortest, seed: seed)
        // The needed objects, of those at the beginning of each sequence.
        for index in (0..<Places.objects).reversed() {
            var fewer = operations
            fewer.remove(at: index)
            if Comparison.divergence(in: fewer) != nil { operations = fewer }
        }
        return
            "seed \(seed), \(Comparison.divergence(in: operations) ?? first)\n\(source(of: operations))"
    }

    private static func source(of operations: [ModelOperation]) -> String {
        operations.map { "    \($0);\n" }.joined()
    }
}
