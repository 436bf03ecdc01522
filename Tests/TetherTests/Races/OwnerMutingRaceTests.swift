import Foundation
import Testing

@testable import Tether

extension Races {
    /// Muting the observers of an owner, while others do, post, attach, and let it go.
    @Suite struct OwnerMutingRaceTests {
        private final class Owner: Sendable {}

        private struct Fixture: Sendable {
            let center = ObserverCenter()
            let log = Log<Int>()
            let ended = Counter()
            let owner = SharedHolder(Owner())
            let trace: Trace

            init() {
                trace = Trace(owner.value!)
                observe()
            }

            func observe() {
                guard let owner = owner.value else { return }
                center.observe(.sample, owner: owner) { [log] _, notification in
                    log.add(notification.number)
                }
            }

            func post(_ numbers: Range<Int>) {
                for number in numbers {
                    center.post(
                        name: .sample, object: Ending { [ended] in ended.add() }, userInfo: ["number": number])
                }
            }

            func mute() {
                guard let owner = owner.value else { return }
                OwnerObservers(of: owner).mute(keepingNewest: true)
                OwnerObservers(of: owner).unmute()
            }
        }

        @Test func `D9 an owner's observers are unmuted when its mutings have ended, beside those attached meanwhile`()
            throws
        {
            try race(
                setUp: { _ in Fixture() },
                { $0.mute() },
                { $0.mute() },
                { fixture in
                    fixture.observe()
                    fixture.post(0..<1)
                },
                check: { fixture in
                    let audit = fixture.center.audit()
                    try require(audit.count == 2 && audit.allSatisfy { $0.muteCount == 0 }, "Muted still: \(audit).")
                    let before = fixture.log.entries.count
                    fixture.post(1..<2)
                    try require(fixture.log.entries.count == before + 2, "Not all were reached.")
                    fixture.owner.drop()
                    try require(!fixture.trace.hasRecord, "The owner left something.")
                })
        }

        @Test func `D9 O3 an owner that ends while it is muted leaves nothing`() throws {
            try race(
                setUp: { _ in Fixture() },
                { $0.mute() },
                { $0.owner.drop() },
                { $0.post(0..<2) },
                check: { fixture in
                    try require(!fixture.trace.hasRecord, "The owner left something.")
                    try require(fixture.ended.count == 2, "A payload was not freed.")
                    try require(fixture.center.core.isEmpty, "The center keeps something.")
                })
        }
    }
}
