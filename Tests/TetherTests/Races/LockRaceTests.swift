import Testing
@testable import Tether

extension Races {
    @Suite struct LockRaceTests {
        private final class Value: Sendable {
            let number: Int
            let copy: Int

            init(_ number: Int) {
                self.number = number
                copy = number
            }
        }

        #if DEBUG
        private static let rounds = extent(100_000, times: "TETHER_RACES")
        #else
        /// Enough for a thread to be interrupted where it leaves the lock.
        private static let rounds = extent(10_000_000, times: "TETHER_RACES")
        #endif

        /// The optimiser, of release builds alone, retains a value later if nothing forbids it.
        @Test func `a value that is read under a lock is retained before the lock is left`() {
            let rounds = LockRaceTests.rounds
            let current = Locked(Value(0))
            let isTorn = Locked(false)
            let reader = JoinableThread {
                var last = 0
                while last < rounds {
                    let value = current.withLock { $0 }
                    if value.number != value.copy || value.number < last {
                        return isTorn.withLock { $0 = true }
                    }
                    last = value.number
                }
            }
            for number in 1...rounds { current.withLock { $0 = Value(number) } }
            reader.join()
            #expect(!isTorn.withLock { $0 })
        }
    }
}
