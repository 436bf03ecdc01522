import Foundation
import Testing

@testable import Tether

extension Races {
    /// Muting, backlogs, posts and ends at the same time.
    @Suite struct FlowControlRaceTests {
        private struct Fixture: Sendable {
            let center = ObserverCenter()
            let scheduler = ManualScheduler()
            let log = Log<Int>()
            let ended = Counter()
            let token: NotificationObserver
            let isAsynchronous: Bool

            init(isAsynchronous: Bool = false, once: Bool = false) {
                self.isAsynchronous = isAsynchronous
                token = center.observe(.sample, on: isAsynchronous ? .custom(scheduler) : .postingThread, once: once) {
                    [log] in log.add($0.number)
                }
            }

            func post(_ numbers: Range<Int>) {
                for number in numbers {
                    center.post(
                        name: .sample, object: Ending { [ended] in ended.add() }, userInfo: ["number": number])
                }
            }

            /// What must hold of what was delivered, dropped and freed, after every race.
            func verify(posted: Int) throws {
                scheduler.runAll()
                let row = center.audit().first
                try require(row.map { $0.pending + $0.muteCount } == 0, "Pending or muted still: \(center.audit()).")
                let dropped = row?.dropped ?? 0
                try require(
                    log.entries.count + dropped == posted, "Delivered \(log.entries), dropped \(dropped), of \(posted)."
                )
                try require(ended.count == posted, "\(ended.count) of \(posted) payloads were freed.")
                // On the posting thread, posts and unmutings of different threads call the handler at the same time.
                for poster in 0..<3 where isAsynchronous {
                    let own = log.entries.filter { $0 / 100 == poster }
                    try require(own == own.sorted(), "Out of order: \(own).")
                }
                try require(Set(log.entries).count == log.entries.count, "Delivered twice: \(log.entries).")
                token.cancel()
                try require(center.core.isEmpty, "The center keeps something.")
            }
        }

        @Test(arguments: [true, false])
        func `D9 D4 each post is delivered in order or dropped while others mute and unmute`(isAsynchronous: Bool)
            throws
        {
            try race(
                setUp: { _ in Fixture(isAsynchronous: isAsynchronous) },
                { $0.post(0..<4) },
                { fixture in
                    for _ in 0..<3 {
                        fixture.token.mute(keepingNewest: true)
                        fixture.token.unmute()
                    }
                },
                { fixture in
                    fixture.token.mute()
                    fixture.scheduler.runAll()
                    fixture.token.unmute()
                },
                check: { try $0.verify(posted: 4) })
        }

        @Test(arguments: [true, false])
        func `D9 the last post is delivered, if the newest is kept, whoever unmutes last`(isAsynchronous: Bool) throws {
            try race(
                setUp: { _ in
                    let fixture = Fixture(isAsynchronous: isAsynchronous)
                    fixture.token.mute(keepingNewest: true)
                    fixture.token.mute()
                    return fixture
                },
                { $0.token.unmute() },
                { fixture in
                    fixture.post(0..<3)
                    fixture.token.unmute()
                },
                check: { fixture in
                    fixture.scheduler.runAll()
                    try require(fixture.log.entries.last == 2, "The newest was lost: \(fixture.log.entries).")
                    try fixture.verify(posted: 3)
                })
        }

        @Test func `D9 no post that begins after mute has returned is delivered`() throws {
            try race(
                setUp: { _ in (fixture: Fixture(), isMuted: Flag(), late: Counter()) },
                { fixture, isMuted, _ in
                    fixture.token.mute()
                    isMuted.raise()
                },
                { fixture, isMuted, late in
                    for number in 0..<4 {
                        let isLate = isMuted.isRaised
                        let before = fixture.log.entries.count
                        fixture.post(number..<number + 1)
                        if isLate, fixture.log.entries.count > before { late.add() }
                    }
                },
                check: { fixture, _, late in
                    try require(late.count == 0, "Delivered while muted.")
                    fixture.token.unmute()
                    try fixture.verify(posted: 4)
                })
        }

        @Test(arguments: [true, false])
        func `D9 R7 a once observer runs once while it is muted and posted to`(isAsynchronous: Bool) throws {
            try race(
                setUp: { _ in Fixture(isAsynchronous: isAsynchronous, once: true) },
                { $0.post(0..<2) },
                { $0.post(100..<102) },
                { fixture in
                    fixture.token.mute(keepingNewest: true)
                    fixture.token.unmute()
                },
                check: { fixture in
                    fixture.scheduler.runAll()
                    try require(fixture.log.entries.count == 1, "It ran for \(fixture.log.entries).")
                    try require(fixture.ended.count == 4, "A payload was not freed.")
                    try require(!fixture.token.isActive && fixture.center.core.isEmpty, "The center keeps something.")
                })
        }

        @Test(arguments: [true, false])
        func `D9 R8 what is kept is freed when the observer is stopped at the same time`(isAsynchronous: Bool) throws {
            try race(
                setUp: { _ in
                    let fixture = Fixture(isAsynchronous: isAsynchronous)
                    fixture.token.mute(keepingNewest: true)
                    fixture.post(0..<1)
                    return fixture
                },
                { $0.token.cancel() },
                { $0.token.unmute() },
                { $0.post(100..<102) },
                check: { fixture in
                    fixture.scheduler.runAll()
                    try require(fixture.ended.count == 3, "A payload was not freed.")
                    try require(fixture.center.core.isEmpty, "The center keeps something.")
                })
        }

        @Test func `D9 D6 what is kept is delivered once while the target is switched`() throws {
            try race(
                setUp: { _ in
                    let fixture = Fixture()
                    fixture.token.mute(keepingNewest: true)
                    fixture.post(0..<1)
                    return fixture
                },
                { fixture in
                    fixture.token.unmute()
                    fixture.post(1..<3)
                },
                { fixture in
                    for target in [
                        .custom(fixture.scheduler), DeliveryTarget.postingThread, .custom(fixture.scheduler),
                    ] {
                        fixture.token.target = target
                    }
                },
                check: { fixture in
                    fixture.scheduler.runAll()
                    try require(fixture.log.entries == [0, 1, 2], "Delivered \(fixture.log.entries).")
                    try fixture.verify(posted: 3)
                })
        }

        @Test func `D8 each post is delivered in order or counted as dropped while bounds change and jobs run`() throws
        {
            try race(
                setUp: { _ in Fixture(isAsynchronous: true) },
                { $0.post(0..<6) },
                { $0.post(100..<106) },
                { fixture in
                    for backlog in [BufferingPolicy.newest(3), .newest(1), .unbounded, .newest(1)] {
                        fixture.token.backlog = backlog
                        fixture.scheduler.runAll()
                    }
                },
                check: { fixture in
                    try require(fixture.center.audit()[0].pending <= 1, "More waits than may.")
                    try fixture.verify(posted: 12)
                })
        }
    }
}
