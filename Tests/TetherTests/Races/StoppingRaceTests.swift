import Foundation
import Testing

@testable import Tether

extension Races {
    @Suite struct StoppingRaceTests {
        private struct Fixture: Sendable {
            let center = ObserverCenter()
            let scheduler = ManualScheduler()
            let token = Box<NotificationObserver?>(nil)
            let hasStopped = Flag()
            let late = Counter()
            let released = Counter()

            init(on target: (ManualScheduler) -> DeliveryTarget) {
                let capture = Ending { [released] in released.add() }
                token.set(
                    center.observe(.sample, on: target(scheduler)) { [hasStopped, late] _ in
                        capture.touch()
                        if hasStopped.isRaised { late.add() }
                        for _ in 0..<8 { capture.touch() }
                        if hasStopped.isRaised { late.add() }
                    })
            }

            /// What must hold after every race.
            func verify() throws {
                try require(late.count == 0, "A handler started or ran after cancelAndWait had returned.")
                try require(released.count == 1, "The capture was released \(released.count) times.")
                try require(center.core.isEmpty, "The center keeps something.")
            }
        }

        @Test func `R1 R2 after cancelAndWait no handler starts or runs on a posting thread`() throws {
            try race(
                setUp: { _ in Fixture { _ in .postingThread } },
                { fixture in
                    for number in 0..<3 { fixture.center.post(.sample, number: number) }
                },
                { fixture in
                    fixture.token.value?.cancelAndWait()
                    fixture.hasStopped.raise()
                },
                check: { try $0.verify() })
        }

        @Test func `R3 R8 of two who stop an observer at once one ends it, and nobody keeps what it captured`() throws {
            let center = ObserverCenter()
            try race(
                setUp: { _ in
                    let isReleased = Flag()
                    let captured = Ending { isReleased.raise() }
                    return (token: center.observe(.sample) { _ in captured.touch() }, isReleased)
                },
                { $0.token.cancel() }, { $0.token.cancel() },
                check: { try require($0.1.isRaised && center.core.isEmpty, "It was not let go of.") })
        }

        @Test func `R3 M5 of two who stop an observer at once one ends it, and the other one of its sender stays`()
            throws
        {
            let (center, sender) = (ObserverCenter(), SharedHolder<Plain>())
            try race(
                setUp: { _ in
                    let object = Plain()
                    sender.set(object)
                    return (0..<2).map { _ in center.observe(.sample, from: object) { _ in } }
                },
                { $0[0].cancel() }, { $0[0].cancel() },
                check: { tokens in
                    try require(tokens[1].isActive, "The other one has ended, too.")
                    sender.drop()
                    try require(!tokens[1].isActive, "Its sender's end was not seen.")
                })
        }

        @Test func `R3 M9 a property that is stopped while another thread configures it leaves nothing`() throws {
            let (center, receiver, owner) = (ObserverCenter(), Screen(Log()), Plain())
            let property = NotificationObserver(center: center)
            try race(
                setUp: { _ in property },
                { $0.connect(.sample, to: Screen.closed, of: receiver, owner: owner) },
                { $0.cancel() },
                check: { property in
                    property.cancel()
                    try require(center.core.isEmpty, "The center keeps something.")
                    for object in [receiver, owner] as [AnyObject] {
                        try require(
                            !OwnerTable.shared.hasRecord(of: ObjectIdentifier(object)), "\(object) keeps something.")
                    }
                })
        }

        @Test func `R1 R2 after cancelAndWait no handler starts or runs in a drain`() throws {
            try race(
                setUp: { _ in
                    let fixture = Fixture { .custom($0) }
                    for number in 0..<3 { fixture.center.post(.sample, number: number) }
                    return fixture
                },
                { fixture in fixture.scheduler.runAll() },
                { fixture in
                    fixture.token.value?.cancelAndWait()
                    fixture.hasStopped.raise()
                },
                check: { try $0.verify() })
        }

        @Test func `R1 R2 a token that goes and a drain that runs leave nothing behind`() throws {
            try race(
                setUp: { _ in Fixture { .custom($0) } },
                { fixture in
                    fixture.center.post(.sample, number: 1)
                    fixture.scheduler.runAll()
                },
                { fixture in fixture.token.set(nil) },
                { fixture in
                    fixture.center.post(.sample, number: 2)
                    fixture.scheduler.runAll()
                },
                check: { fixture in
                    fixture.scheduler.runAll()
                    try fixture.verify()
                })
        }

        @Test func `R3 of several threads that stop one observer each returns to an ended one`() throws {
            let stop: @Sendable (Fixture) -> Void = { fixture in
                fixture.token.value?.cancelAndWait()
                fixture.hasStopped.raise()
            }
            try race(
                setUp: { _ in Fixture { _ in .postingThread } },
                stop, stop,
                { fixture in fixture.center.post(.sample, number: 1) },
                check: { try $0.verify() })
        }

        @Test func `R2 two handlers that wait for each other never both wait, nor both give up`() throws {
            struct Pair: Sendable {
                let center = ObserverCenter()
                let tokens = Box<[NotificationObserver]>([])
                let results = Log<NotificationObserver.WaitResult>()
                let running = Meeting(of: 2)

                init() {
                    let names = [Notification.Name.sample, .other]
                    tokens.set(
                        (0..<2).map { index in
                            center.observe(names[index]) { [tokens, results, running] _ in
                                running.meet()
                                results.add(tokens.value[1 - index].cancelAndWait())
                            }
                        })
                }
            }
            try race(
                setUp: { _ in Pair() },
                { $0.center.post(.sample, number: 1) },
                { $0.center.post(.other, number: 1) },
                check: { pair in
                    let results = pair.results.entries
                    try require(results.count == 2, "A handler did not run.")
                    try require(results.contains(.finished), "Both gave up.")
                    pair.tokens.set([])
                    try require(pair.center.core.isEmpty, "The center keeps something.")
                })
        }

        @Test func `R10 a center that goes in a race with its posts and drains leaves nothing behind`() throws {
            struct Dying: Sendable {
                let center = Box<ObserverCenter?>(ObserverCenter())
                let scheduler = ManualScheduler()
                let tokens = Box<[NotificationObserver]>([])
                let released = Counter()
                let core: CenterCore

                init() {
                    core = center.value!.core
                    let capture = Ending { [released] in released.add() }
                    tokens.set([
                        center.value!.observe(.sample) { _ in capture.touch() },
                        center.value!.observe(.sample, on: .custom(scheduler)) { _ in capture.touch() },
                    ])
                    center.value?.post(.sample, number: 1)
                }
            }
            try race(
                setUp: { _ in Dying() },
                { dying in dying.center.value?.post(.sample, number: 2) },
                { dying in dying.center.set(nil) },
                { dying in dying.scheduler.runAll() },
                check: { dying in
                    dying.scheduler.runAll()
                    try require(dying.tokens.value.allSatisfy { !$0.isActive }, "An observer outlived its center.")
                    try require(dying.released.count == 1, "The capture was released \(dying.released.count) times.")
                    try require(dying.core.isEmpty, "The core keeps something.")
                })
        }
    }
}
