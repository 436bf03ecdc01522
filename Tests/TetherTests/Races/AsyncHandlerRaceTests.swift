import Foundation
import Testing
import Tether

extension LateRaces {
    @Suite struct AsyncHandlerRaceTests {
        private struct Fixture: Sendable {
            let center = ObserverCenter()
            let token: NotificationObserver
            let hasSlept = Flag()
            /// How many times the ending thread spins, so that the post has started its task.
            let delay: Int

            init(round: Int) {
                delay = round % 64 * 8
                token = center.observe(.sample) { [hasSlept] _ in
                    do { try await Task.sleep(for: .seconds(longestWait / 4)) } catch { return }
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

        @Test func `D9 P4 an unmuting and a post at the same time both reach an async handler`()
            throws
        {
            try race(
                setUp: { _ in
                    let (center, log) = (ObserverCenter(), Log<Int>())
                    let token = center.observe(.sample) { note async in log.add(note.number) }
                    token.mute(keepingNewest: true)
                    center.post(.sample, number: 1)
                    return (center: center, token: token, log: log)
                },
                { _, token, _ in token.unmute() },
                { center, _, _ in center.post(.sample, number: 2) },
                check: { center, _, log in
                    // A post before the unmuting has replaced the kept notification.
                    let end = ContinuousClock.now + .seconds(longestWait / 4)
                    while log.entries.count + center.audit()[0].dropped < 2,
                        ContinuousClock.now < end
                    { sched_yield() }
                    let dropped = center.audit()[0].dropped
                    try require(
                        log.entries == (dropped == 0 ? [1, 2] : [2]), "Called with \(log.entries).")
                })
        }
    }
}
