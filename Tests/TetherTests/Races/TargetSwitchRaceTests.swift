import Dispatch
import Foundation
import Testing

@testable import Tether

extension Races {
    @Suite struct TargetSwitchRaceTests {
        private struct Fixture: Sendable {
            let center = ObserverCenter()
            let schedulers = [ManualScheduler(), ManualScheduler()]
            let log = Log<Int>()
            let token: NotificationObserver
            /// The turn to run jobs: a scheduler runs one at a time.
            private let turn = NSLock()

            init(on target: DeliveryTarget? = nil, yields: Int = 0) {
                token = center.observe(.sample, on: target ?? .custom(schedulers[0])) { [log] notification in
                    log.add(notification.number)
                    for _ in 0..<yields { sched_yield() }
                }
            }

            func runAll() {
                turn.withLock {
                    while schedulers.contains(where: { $0.waiting > 0 }) {
                        for scheduler in schedulers { scheduler.runAll() }
                    }
                }
            }

            func switchBackAndForth() {
                for index in [1, 0, 1] { token.target = .custom(schedulers[index]) }
            }

            /// What must hold after every race.
            func verify(posters: Int, posts: Int) throws {
                runAll()
                let entries = log.entries
                for poster in 0..<posters {
                    let own = entries.filter { $0 / 100 == poster }
                    try require(
                        own == (0..<posts).map { poster * 100 + $0 }, "Poster \(poster) was delivered as \(own).")
                }
                let audit = center.audit()
                try require(audit.map(\.pending) == [0], "Something is pending: \(audit).")
                try require(audit.map(\.dropped) == [0], "Something was dropped: \(audit).")
                token.cancel()
                try require(center.core.isEmpty, "The center keeps something.")
            }
        }

        @Test func `D6 D4 each post is delivered once, in each poster's order, while targets are switched`() throws {
            try race(
                setUp: { _ in Fixture() },
                { fixture in fixture.center.post(.sample, numbers: 0..<2) },
                { fixture in
                    fixture.switchBackAndForth()
                    fixture.runAll()
                },
                { fixture in
                    fixture.runAll()
                    fixture.center.post(.sample, numbers: 100..<102)
                    fixture.runAll()
                },
                check: { try $0.verify(posters: 2, posts: 2) })
        }

        @Test func `D6 each post is delivered once, in its poster's order, while the poster is a target too`() throws {
            try race(
                setUp: { _ in Fixture() },
                { fixture in fixture.center.post(.sample, numbers: 0..<4) },
                { fixture in
                    for _ in 0..<2 {
                        fixture.token.target = .postingThread
                        fixture.token.target = .custom(fixture.schedulers[1])
                    }
                    fixture.runAll()
                },
                check: { try $0.verify(posters: 1, posts: 4) })
        }

        @Test func `D6 a switch that waits for one of many short drains is taken`() throws {
            try race(
                setUp: { _ in Fixture(on: .custom(InlineScheduler()), yields: 2) },
                { fixture in
                    fixture.center.post(.sample, numbers: 0..<6)
                },
                { fixture in
                    fixture.center.post(.sample, number: 100)
                    fixture.token.target = .custom(fixture.schedulers[1])
                    fixture.center.post(.sample, numbers: 101..<106)
                },
                check: { fixture in
                    fixture.runAll()
                    let scheduled = fixture.schedulers[1].scheduled
                    fixture.center.post(.sample, number: 200)
                    try require(fixture.schedulers[1].scheduled == scheduled + 1, "The old target is in use still.")
                    fixture.runAll()
                    try require(fixture.log.entries.count == 13, "Delivered \(fixture.log.entries).")
                    try fixture.verify(posters: 2, posts: 6)
                })
        }

        @Test func `D2 D6 dropped jobs in a race with posts are counted, and nothing posted later is lost`() throws {
            try race(
                setUp: { _ in
                    let fixture = Fixture()
                    fixture.center.post(.sample, numbers: 0..<4)
                    return fixture
                },
                { fixture in fixture.schedulers[0].dropAll() },
                { fixture in
                    fixture.center.post(.sample, numbers: 100..<104)
                    fixture.runAll()
                },
                check: { fixture in
                    fixture.runAll()
                    let entries = fixture.log.entries
                    let dropped = fixture.center.audit().map(\.dropped).reduce(0, +)
                    try require(entries == entries.sorted(), "Out of order: \(entries).")
                    try require(entries.count + dropped == 8, "Delivered \(entries), dropped \(dropped).")
                    fixture.center.post(.sample, number: 200)
                    fixture.runAll()
                    try require(fixture.log.entries == entries + [200], "A later post was lost.")
                    fixture.token.cancel()
                    try require(fixture.center.core.isEmpty, "The center keeps something.")
                })
        }

        @Test func `D2 R5 observers of one scheduler may come and go on several threads`() throws {
            let center = ObserverCenter()
            let scheduler = ManualScheduler()
            let comeAndGo: @Sendable (Int) -> Void = { round in
                for _ in 0..<3 {
                    let token = center.observe(.sample, on: .custom(scheduler)) { _ in }
                    token.cancel()
                }
            }
            try race(
                setUp: { $0 }, comeAndGo, comeAndGo,
                check: { _ in try require(center.core.isEmpty, "The center keeps something.") })
        }
    }
}
