import Foundation
import Testing

@testable import Tether

extension Races {
    @Suite struct AsyncHandlerRaceTests {
        private struct Fixture: Sendable {
            let center = ObserverCenter()
            let token: NotificationObserver
            let hasSlept = Flag()
            /// How long the end waits for the post to have come so far that its task starts.
            let delay: Int

            init(round: Int) {
                delay = round % 64 * 8
                token = center.observe(.sample) { [hasSlept] _ in
                    do { try await Task.sleep(for: .seconds(20)) } catch { return }
                    hasSlept.raise()
                }
            }

            func stop() {
                for _ in 0..<delay { _ = hasSlept.isRaised }
                token.cancel()
            }
        }

        @Test func `P4 a call whose task starts while its observer ends is cancelled`() throws {
            try race(
                setUp: { round in Fixture(round: round) },
                { fixture in fixture.center.post(name: .sample, object: nil) },
                { fixture in fixture.stop() },
                check: { fixture in
                    fixture.token.cancelAndWait()
                    try require(!fixture.hasSlept.isRaised, "The call was not cancelled.")
                })
        }
    }
}
