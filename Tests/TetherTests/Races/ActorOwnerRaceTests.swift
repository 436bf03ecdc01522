import Foundation
import Testing

@testable import Tether

extension Races {
    /// Posts to an actor owner while it goes, and while its observers are stopped.
    @Suite struct ActorOwnerRaceTests {
        private actor Counting {
            private var numbers: [Int] = []
            private let log: Log<[Int]>

            init(_ log: Log<[Int]>) { self.log = log }

            deinit { log.add(numbers) }

            func add(_ number: Int) { numbers.append(number) }
        }

        private struct Fixture: Sendable {
            let center = ObserverCenter()
            let log = Log<[Int]>()
            let owner = SharedHolder<Counting>()
            let trace: Trace

            init() {
                let actor = Counting(log)
                trace = Trace(actor)
                owner.set(actor)
                center.observe(.sample, owner: actor) { actor, note in actor.add(note.number) }
            }

            /// Waits for the actor's end, which comes on a thread of its own.
            func awaitEnd() throws -> [Int] {
                let limit = ContinuousClock.now + .seconds(300)
                while log.entries.isEmpty {
                    try require(ContinuousClock.now < limit, "The actor did not go.")
                    sched_yield()
                }
                try require(trace.hasGone && !trace.hasRecord, "The actor left something.")
                try require(center.core.isEmpty, "The center keeps something.")
                return log.entries[0]
            }
        }

        @Test func `P2 D4 O3 each poster's posts arrive in order, none after the actor has gone`() throws {
            try race(
                setUp: { _ in Fixture() },
                { $0.center.post(.sample, numbers: 0..<3) },
                { $0.center.post(.sample, numbers: 100..<103) },
                { $0.owner.drop() },
                check: { fixture in
                    let numbers = try fixture.awaitEnd()
                    for poster in [0, 100] {
                        let own = numbers.filter { $0 / 100 * 100 == poster }
                        let expected = (poster..<poster + 3).prefix(own.count)
                        try require(own == Array(expected), "Delivered \(numbers).")
                    }
                })
        }

        @Test func `P2 O2 what was posted before the owner was let go is delivered to it`() throws {
            try race(
                setUp: { _ in Fixture() },
                { fixture in
                    fixture.center.post(.sample, numbers: 0..<3)
                    fixture.owner.drop()
                },
                { $0.center.post(.sample, numbers: 100..<102) },
                check: { fixture in
                    let numbers = try fixture.awaitEnd()
                    try require(numbers.filter { $0 < 100 } == [0, 1, 2], "Delivered \(numbers).")
                })
        }
    }
}
