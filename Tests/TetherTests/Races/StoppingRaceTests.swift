import Foundation
import Testing
import Tether

extension Races {
    @Suite struct StoppingRaceTests {

        @Test func `R2 two handlers that wait for each other never both wait, nor both give up`()
            throws
        {
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
                    try require(pair.center.isEmpty, "The center keeps something.")
                })
        }
    }
}
