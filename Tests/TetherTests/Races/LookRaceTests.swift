import Foundation
import Testing

@testable import Tether

extension Races {
    /// Whoever merely looks at an observer that another thread stops is not the last to hold what its handler captured.
    @Suite struct LookRaceTests {
        fileprivate final class Fixture: Sendable {
            let center = ObserverCenter()
            let owner = SharedHolder<Plain>()
            let token: NotificationObserver
            let isReleased = Flag()
            /// Whether it was released when the call that stopped the observer had returned.
            let wasReleasedAtOnce = Flag()
            /// How long the look waits for the stop.
            private let delay: Int

            init(round: Int, hasOwner: Bool) {
                delay = round % 32 * 4
                let object = Plain()
                let captured = Ending { [isReleased] in isReleased.raise() }
                token =
                    hasOwner
                    ? center.observe(.sample, owner: object) { _, _ in captured.touch() }
                    : center.observe(.sample) { _ in captured.touch() }
                owner.set(object)
            }

            func stop() {
                token.cancel()
                if isReleased.isRaised { wasReleasedAtOnce.raise() }
            }

            func look(_ look: Look) {
                for _ in 0..<delay { _ = isReleased.isRaised }
                look.body(self)
            }

            func waitUntilStopped() { while token.isActive {} }
        }

        /// A way of looking at an observer.
        struct Look: CustomTestStringConvertible, Sendable {
            let testDescription: String
            fileprivate let body: @Sendable (Fixture) -> Void

            static let all = [
                Look(testDescription: "isActive") { for _ in 0..<16 { _ = $0.token.isActive } },
                Look(testDescription: "target") { for _ in 0..<4 { _ = $0.token.target } },
                Look(testDescription: "set target") { $0.token.target = .main },
                Look(testDescription: "mute") { $0.token.mute(keepingNewest: true) },
                Look(testDescription: "mute and unmute") {
                    $0.token.mute()
                    $0.token.unmute()
                },
                Look(testDescription: "isMuted") { for _ in 0..<4 { _ = $0.token.isMuted } },
                Look(testDescription: "backlog") { $0.token.backlog = .newest(1) },
                Look(testDescription: "audit") { _ = $0.center.audit() },
                Look(testDescription: "second stop") {
                    $0.waitUntilStopped()
                    $0.token.cancel()
                },
                Look(testDescription: "cancelAndWait") {
                    $0.waitUntilStopped()
                    $0.token.cancelAndWait()
                },
                Look(testDescription: "removeObservers") {
                    $0.waitUntilStopped()
                    $0.center.removeObservers(named: .sample)
                },
                Look(testDescription: "owner's observers muted") { fixture in
                    if let owner = fixture.owner.value { OwnerObservers(of: owner).mute() }
                },
                Look(testDescription: "owner's observers listed") { fixture in
                    if let owner = fixture.owner.value { _ = OwnerObservers(of: owner).audit() }
                },
                Look(testDescription: "owner's end") {
                    $0.waitUntilStopped()
                    $0.owner.drop()
                },
            ]
        }

        @Test(arguments: Look.all, [false, true])
        func `R8 what a handler captured is released in the stop, whoever looks`(look: Look, hasOwner: Bool) throws {
            try race(
                rounds: 1000, setUp: { round in Fixture(round: round, hasOwner: hasOwner) },
                { fixture in fixture.stop() },
                { fixture in fixture.look(look) },
                check: { fixture in
                    try require(fixture.wasReleasedAtOnce.isRaised, "It was kept past the stop.")
                })
        }
    }
}
