import Dispatch
import Foundation
import Testing
import Tether

extension Races {
    @Suite struct MatchingRaceTests {
        @Test
        func `M3 D2 a post after a switch finds the target, also if a bound is set meanwhile`()
            throws
        {
            struct Fixture: Sendable {
                let center = ObserverCenter()
                let queue = DispatchQueue(label: "switched")
                let calls = Log<String>()
                let waiting: NotificationObserver
                let switched: NotificationObserver

                init() {
                    // The first handler waits for the queue, where the post has put its block.
                    waiting = center.observe(.sample) { [queue, calls] _ in
                        queue.sync {}
                        calls.add("waited")
                    }
                    switched = center.observe(.sample) { [calls] _ in calls.add("switched") }
                }
            }
            try race(
                setUp: { _ in Fixture() },
                { fixture in fixture.switched.backlog = .newest(10) },
                { fixture in
                    fixture.switched.target = .dispatchQueue(fixture.queue)
                    fixture.center.post(.sample, number: 1)
                },
                check: { fixture in
                    let calls = fixture.calls.entries
                    try require(calls == ["switched", "waited"], "Called in the order \(calls).")
                })
        }

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
                    try require(fixture.center.isEmpty, "The center keeps something.")
                })
        }

        /// The object of one post. It collects the numbers of the handlers that the post calls.
        private final class Calls: Sendable {
            let numbers = Log<Int>()
        }

        /// Observers of a name and of any name, with rising numbers in registration order.
        private struct TwoBuckets: Sendable {
            let center = ObserverCenter()
            let tokens = Log<NotificationObserver>()
            let posts = Log<[Int]>()
            /// Calls after `cancelAndWait()` has returned.
            let late = Counter()

            func observe(_ number: Int, hasEnded: Flag? = nil) -> NotificationObserver {
                center.observe(number.isMultiple(of: 2) ? .sample : nil) { [late] note in
                    if hasEnded?.isRaised == true { late.add() }
                    (note.object as? Calls)?.numbers.add(number)
                }
            }

            func post() {
                let calls = Calls()
                center.post(name: .sample, object: calls)
                posts.add(calls.numbers.entries)
            }

            func cancelAll() throws {
                for token in tokens.entries { token.cancel() }
                try require(center.isEmpty, "The center keeps something.")
            }
        }

        @Test
        func `M3 R4 a post that calls an observer of a name or any has called all earlier ones`()
            throws
        {
            let count = 12
            try race(
                setUp: { _ in TwoBuckets() },
                { for _ in 0..<count { $0.post() } },
                { for number in 0..<count { $0.tokens.add($0.observe(number)) } },
                check: { fixture in
                    fixture.post()
                    var reached = 0
                    for called in fixture.posts.entries {
                        try require(
                            called == Array(0..<called.count) && called.count >= reached,
                            "A post called \(called) after \(reached) of \(count).")
                        reached = called.count
                    }
                    try require(reached == count, "The last post reached \(reached).")
                    try fixture.cancelAll()
                })
        }

        @Test
        func `M1 R1 R3 observers of any name and of a name that come and go disturb no others`()
            throws
        {
            let steady = 4
            @Sendable func addAndEnd(_ fixture: TwoBuckets, _ numbers: Range<Int>) {
                for number in numbers {
                    let hasEnded = Flag()
                    let token = fixture.observe(number, hasEnded: hasEnded)
                    token.cancelAndWait()
                    hasEnded.raise()
                    token.cancel()
                }
            }
            try race(
                setUp: { _ in
                    let fixture = TwoBuckets()
                    for number in 0..<steady { fixture.tokens.add(fixture.observe(number)) }
                    return fixture
                },
                { for _ in 0..<4 { $0.post() } },
                { for _ in 0..<4 { $0.post() } },
                { addAndEnd($0, steady..<steady + 4) },
                { addAndEnd($0, steady + 4..<steady + 8) },
                check: { fixture in
                    for called in fixture.posts.entries {
                        let isOnce = Set(called).count == called.count
                        try require(
                            Array(called.prefix(steady)) == Array(0..<steady) && isOnce,
                            "A post called \(called).")
                    }
                    try require(fixture.posts.entries.count == 8, "Posts are missing.")
                    try require(fixture.late.count == 0, "A call began after cancelAndWait().")
                    try fixture.cancelAll()
                })
        }
    }
}
