import Foundation
import Synchronization
import Testing

@testable import Tether

extension Races {
    /// What rests on memory order alone, for processors that order less than x86: `Tests/Litmus` goes through the same
    /// by models, this on the machine that it is run on.
    ///
    /// One thread posts without a pause; another one adds an observer and ends it, again and again. What they look at of
    /// each other is relaxed, so that no order comes from the test. `TETHER_STORM=100` in the environment makes it a
    /// hundred times as long.
    @Suite struct MemoryOrderStormTests {
        private static let rounds = extent(2_000, times: "TETHER_STORM")

        /// Words without an order of their own, each in its own allocation.
        private final class Word: Sendable {
            private let word = Atomic<Int>(0)

            var value: Int { word.load(ordering: .relaxed) }

            func set(_ value: Int) { word.store(value, ordering: .relaxed) }

            /// One more, in two steps: only one thread at a time does this, and two at once lose one.
            func advance() { set(value + 1) }
        }

        /// Calls `round` again and again while another thread posts.
        private func whilePosting(on center: ObserverCenter, _ round: @escaping @Sendable (Int) -> Void) {
            let isOver = Word()
            let poster = Crew { while isOver.value == 0 { center.post(.sample, number: 1) } }
            for number in 1...MemoryOrderStormTests.rounds { round(number) }
            isOver.set(1)
            poster.join()
        }

        @Test func `R1 R2 after cancelAndWait no handler runs, and all that it has stored is seen`() {
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
            #expect(center.core.isEmpty)
        }

        @Test func `R2 stores of a once handler are seen after the wait, though its registration is deallocated`() {
            let center = ObserverCenter()
            let unseen = Word()
            whilePosting(on: center) { round in
                let stored = Word()
                let token = center.observe(.sample, once: true) { _ in stored.set(round) }
                // Now and then the poster may have the processor that this is on.
                var looks = 0
                while token.isActive {
                    looks += 1
                    if looks.isMultiple(of: 1000) { sched_yield() }
                }
                token.cancelAndWait()
                if stored.value != round { unseen.advance() }
            }
            #expect(unseen.value == 0)
            #expect(center.core.isEmpty)
        }

        @Test func `R8 captures are released once, after all stores of the handler`() {
            let center = ObserverCenter()
            let released = Word()
            let wrong = Word()
            whilePosting(on: center) { round in
                let stored = Word()
                let before = released.value
                let token = capturing(in: center, stored: stored, released: released, wrong: wrong)
                for _ in 0..<(round % 97) { _ = stored.value }
                token.cancel()
                // The poster releases it where a post of it was under way.
                let deadline = Date.now + 30
                while released.value == before, Date.now < deadline {}
                if released.value != before + 1 { wrong.advance() }
            }
            #expect(wrong.value == 0)
            #expect(released.value == MemoryOrderStormTests.rounds)
            #expect(center.core.isEmpty)
        }

        private func capturing(
            in center: ObserverCenter, stored: Word, released: Word, wrong: Word
        ) -> NotificationObserver {
            let begun = Word()
            let capture = Ending {
                // A handler that is under way has begun once more than it has stored.
                if begun.value != stored.value { wrong.advance() }
                released.advance()
            }
            return center.observe(.sample) { _ in
                begun.advance()
                capture.touch()
                stored.advance()
            }
        }
    }
}
