import Foundation
import Synchronization
import Testing
import Tether

extension LateRaces {
    /// The memory orders, on processors with weaker orders than x86. `Tests/Tools/Litmus` checks the
    /// same with models, and these tests check the machine.
    ///
    /// One thread posts without a pause. Another thread adds and ends observers. The test's own
    /// accesses are relaxed, and add no order. `TETHER_STORM=100` in the environment makes the
    /// storms a hundred times as long.
    @Suite struct MemoryOrderStormTests {
        private static let rounds = extent(2_000, times: "TETHER_STORM")

        /// Words without an order of their own, each in its own allocation.
        private final class Word: Sendable {
            private let word = Atomic<Int>(0)

            var value: Int { word.load(ordering: .relaxed) }

            func set(_ value: Int) { word.store(value, ordering: .relaxed) }

            /// Increments in two steps: increments by two threads at once would lose a count.
            func advance() { set(value + 1) }
        }

        /// Calls `round` again and again while another thread posts.
        private func whilePosting(
            on center: ObserverCenter, _ round: @escaping @Sendable (Int) -> Void
        ) {
            let isOver = Word()
            let postingThread = JoinableThread {
                while isOver.value == 0 { center.post(.sample, number: 1) }
            }
            for number in 1...MemoryOrderStormTests.rounds { round(number) }
            isOver.set(1)
            postingThread.join()
        }

        @Test func `R1 R2 after cancelAndWait no handler runs, and all handlers' stores are seen`()
        {
            let center = ObserverCenter()
            let ended = Word()
            let late = Word()
            let unseen = Word()
            let calls = Word()
            whilePosting(on: center) { round in
                let stored = Word()
                let token = center.observe(.sample) { _ in
                    if ended.value >= round { late.advance() }
                    stored.advance()
                    calls.advance()
                    if ended.value >= round { late.advance() }
                }
                // In some rounds the handler is under way, in others not yet.
                for _ in 0..<(round % 97) { _ = calls.value }
                token.cancelAndWait()
                ended.set(round)
                let seen = stored.value
                for _ in 0..<50 { _ = ended.value }
                if stored.value != seen { unseen.advance() }
            }
            #expect(late.value == 0)
            #expect(unseen.value == 0)
            #expect(center.isEmpty)
        }
    }
}
