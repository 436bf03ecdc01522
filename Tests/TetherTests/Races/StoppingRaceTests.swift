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
                try require(late.count == 0, "A handler started or ran after stopAndWait had returned.")
                try require(released.count == 1, "The capture was released \(released.count) times.")
                try require(center.core.isEmpty, "The center keeps something.")
            }
        }

        @Test func `R1 R2 after stopAndWait no handler starts or runs on a posting thread`() throws {
            try race(
                setUp: { _ in Fixture { _ in .poster } },
                { fixture in
                    for number in 0..<3 { fixture.center.post(.sample, number: number) }
                },
                { fixture in
                    fixture.token.value?.stopAndWait()
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
                { $0.token.stop() }, { $0.token.stop() },
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
                { $0[0].stop() }, { $0[0].stop() },
                check: { tokens in
                    try require(tokens[1].isActive, "The other one has ended, too.")
                    sender.drop()
                    try require(!tokens[1].isActive, "Its sender's end was not seen.")
                })
        }
    }
}
