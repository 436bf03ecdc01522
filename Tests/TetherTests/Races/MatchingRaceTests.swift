import Foundation
import Testing

@testable import Tether

extension Races {
    @Suite struct MatchingRaceTests {
        @Test func `R7 once under concurrent and nested posts runs exactly once`() throws {
            struct Fixture: Sendable {
                let center = ObserverCenter()
                let scheduler = ManualScheduler()
                let onPoster = Counter()
                let onScheduler = Counter()
                let released = Counter()
                let tokens: [NotificationObserver]

                init() {
                    let capture = Ending { [released] in released.add() }
                    tokens = [
                        center.observe(.sample, once: true) { [weak center, onPoster] _ in
                            capture.touch()
                            onPoster.add()
                            center?.post(.sample, number: 2)
                        },
                        center.observe(.sample, on: .custom(scheduler), once: true) { [weak center, onScheduler] _ in
                            capture.touch()
                            onScheduler.add()
                            center?.post(.sample, number: 3)
                        },
                    ]
                }
            }
            let post: @Sendable (Fixture) -> Void = { fixture in
                fixture.center.post(.sample, number: 1)
                fixture.scheduler.runAll()
            }
            try race(
                setUp: { _ in Fixture() }, post, post,
                check: { fixture in
                    fixture.scheduler.runAll()
                    try require(fixture.onPoster.count == 1, "Ran \(fixture.onPoster.count) times on the poster.")
                    try require(
                        fixture.onScheduler.count == 1, "Ran \(fixture.onScheduler.count) times on the scheduler.")
                    try require(
                        fixture.released.count == 1, "The capture was released \(fixture.released.count) times.")
                    try require(fixture.tokens.allSatisfy { !$0.isActive }, "A once observer is still active.")
                    try require(fixture.center.core.isEmpty, "The center keeps something.")
                })
        }

        @Test func `M7 a post that begins sees exactly one of two observers with one key`() throws {
            struct Fixture: Sendable {
                let center = ObserverCenter()
                let log = Log<Int>()
                let tokens = Box<[NotificationObserver]>([])

                func replace(with number: Int) {
                    let token = center.observe(.sample, key: "key") { [log] _ in log.add(number) }
                    tokens.set(tokens.value + [token])
                }
            }
            try race(
                setUp: { _ in
                    let fixture = Fixture()
                    fixture.replace(with: 0)
                    return fixture
                },
                { fixture in
                    // What this poster sees can only grow newer.
                    for _ in 0..<3 { fixture.center.post(.sample, number: 1) }
                },
                { fixture in
                    fixture.replace(with: 1)
                    fixture.replace(with: 2)
                },
                check: { fixture in
                    let seen = fixture.log.entries
                    try require(seen == seen.sorted(), "An older observer was called after a newer one: \(seen).")
                    // A post under way that has not reached the old one calls neither, so there may be fewer.
                    try require(seen.count <= 3, "A post called two: \(seen).")
                    fixture.center.post(.sample, number: 1)
                    try require(fixture.log.entries == seen + [2], "The last one alone was to be called.")
                    try require(fixture.center.core.count == 1, "More than one lives.")
                    fixture.tokens.set([])
                    try require(fixture.center.core.isEmpty, "The center keeps something.")
                })
        }

        @Test func `M1 M3 R1 adding and removing on the same and on other names disturbs no post`() throws {
            struct Fixture: Sendable {
                let center = ObserverCenter()
                let calls = Log<Int>()
                let stray = Counter()
                let steady: [NotificationObserver]

                init() {
                    steady = (0..<2).map { [center, calls] index in
                        center.observe(.sample) { notification in calls.add(notification.number * 10 + index) }
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
                    try require(fixture.calls.entries == expected, "Called \(fixture.calls.entries).")
                    try require(fixture.stray.count == 0, "A post reached an observer of another name.")
                    for token in fixture.steady { token.cancel() }
                    try require(fixture.center.core.isEmpty, "The center keeps something.")
                })
        }

        @Test func `R9 bulk removal in a race with posts and additions ends what it found`() throws {
            struct Fixture: Sendable {
                let center = ObserverCenter()
                let released = Counter()
                let tokens = Box<[NotificationObserver]>([])

                func add() -> NotificationObserver {
                    let capture = Ending { [released] in released.add() }
                    return center.observe(.sample) { _ in capture.touch() }
                }
            }
            try race(
                setUp: { _ in
                    let fixture = Fixture()
                    fixture.tokens.set((0..<4).map { _ in fixture.add() })
                    return fixture
                },
                { fixture in fixture.center.post(.sample, numbers: 1...2) },
                { fixture in fixture.center.removeObservers(named: .sample) },
                { fixture in fixture.add().cancel() },
                check: { fixture in
                    try require(fixture.tokens.value.allSatisfy { !$0.isActive }, "One was left.")
                    try require(fixture.released.count == 5, "Released \(fixture.released.count) captures of 5.")
                    try require(fixture.center.core.isEmpty, "The center keeps something.")
                })
        }
    }
}
