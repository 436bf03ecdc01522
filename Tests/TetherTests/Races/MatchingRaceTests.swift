import Foundation
import Testing

@testable import Tether

extension Races {
    @Suite struct MatchingRaceTests {
        @Test func `M1 M3 R1 adding and removing on the same and on other names disturbs no post`()
            throws
        {
            struct Fixture: Sendable {
                let center = ObserverCenter()
                let calls = Log<Int>()
                let stray = Counter()
                let steady: [NotificationObserver]

                init() {
                    steady = (0..<2).map { [center, calls] index in
                        center.observe(.sample) { notification in
                            calls.add(notification.number * 10 + index)
                        }
                    }
                }

                func churn(_ name: Notification.Name?) {
                    let tokens = (0..<2).map { _ in
                        center.observe(name) { [stray] notification in
                            if name != nil, notification.name != name { stray.add() }
                        }
                    }
                    for token in tokens { token.cancel() }
                }
            }
            try race(
                setUp: { _ in Fixture() },
                { fixture in fixture.center.post(.sample, numbers: 1...2) },
                { fixture in
                    fixture.churn(.sample)
                    fixture.churn(nil)
                    fixture.churn(.other)
                },
                check: { fixture in
                    let expected = (1...2).flatMap { [$0 * 10, $0 * 10 + 1] }
                    try require(
                        fixture.calls.entries == expected, "Called \(fixture.calls.entries).")
                    try require(
                        fixture.stray.count == 0, "A post reached an observer of another name.")
                    for token in fixture.steady { token.cancel() }
                    try require(fixture.center.core.isEmpty, "The center keeps something.")
                })
        }
    }
}
