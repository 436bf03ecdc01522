import Foundation
import Testing
import Tether

extension Races {
    /// A call uses an observer while another thread cancels the observer.
    @Suite struct CaptureRaceTests {
        fileprivate final class Fixture: Sendable {
            let center = ObserverCenter()
            let owner = Box<Plain?>()
            let token: NotificationObserver
            let isReleased = Flag()
            /// How long the call waits for the cancellation.
            private let delay: Int

            init(round: Int) {
                delay = round % 32 * 4
                let object = Plain()
                let captured = Ending { [isReleased] in isReleased.raise() }
                token = center.observe(.sample, owner: object) { _, _ in captured.touch() }
                owner.set(object)
            }

            func make(_ call: Call) {
                for _ in 0..<delay { _ = isReleased.isRaised }
                call.body(self)
            }

            func waitUntilStopped() { while token.isActive {} }
        }

        /// A call on an observer.
        struct Call: CustomTestStringConvertible, Sendable {
            let testDescription: String
            fileprivate let body: @Sendable (Fixture) -> Void

            static let all = [
                Call(testDescription: "isActive") { for _ in 0..<16 { _ = $0.token.isActive } },
                Call(testDescription: "target") { for _ in 0..<4 { _ = $0.token.target } },
                Call(testDescription: "set target") { $0.token.target = .main },
                Call(testDescription: "mute") { $0.token.mute(keepingNewest: true) },
                Call(testDescription: "mute and unmute") {
                    $0.token.mute()
                    $0.token.unmute()
                },
                Call(testDescription: "isMuted") { for _ in 0..<4 { _ = $0.token.isMuted } },
                Call(testDescription: "backlog") { $0.token.backlog = .newest(1) },
                Call(testDescription: "audit") { _ = $0.center.audit() },
                Call(testDescription: "second stop") {
                    $0.waitUntilStopped()
                    $0.token.cancel()
                },
                Call(testDescription: "cancelAndWait") {
                    $0.waitUntilStopped()
                    $0.token.cancelAndWait()
                },
                Call(testDescription: "removeObservers") {
                    $0.waitUntilStopped()
                    $0.center.removeObservers(named: .sample)
                },
                Call(testDescription: "owner's observers muted") { fixture in
                    if let owner = fixture.owner.value { OwnerObservers(of: owner).mute() }
                },
                Call(testDescription: "owner's observers listed") { fixture in
                    if let owner = fixture.owner.value { _ = OwnerObservers(of: owner).audit() }
                },
                Call(testDescription: "owner's end") {
                    $0.waitUntilStopped()
                    $0.owner.drop()
                },
            ]
        }

        @Test(arguments: Call.all)
        func `R8 captures are released when cancel() and a call under way have returned`(
            call: Call
        ) throws {
            try race(
                rounds: 300, setUp: { round in Fixture(round: round) },
                { fixture in fixture.token.cancel() },
                { fixture in fixture.make(call) },
                check: { fixture in
                    try require(fixture.isReleased.isRaised, "They were kept past both.")
                    try require(fixture.center.isEmpty, "The center keeps it.")
                })
        }
    }
}
