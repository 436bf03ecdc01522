import Dispatch
import Foundation
import Synchronization
import Testing

/// An invariant that did not hold in a round of a race.
struct BrokenInvariant: Error, CustomStringConvertible {
    let description: String
}

func require(_ condition: Bool, _ sentence: @autoclosure () -> String) throws {
    if !condition { throw BrokenInvariant(description: sentence()) }
}

/// Runs contestants at once in every round, each on its thread, and checks the result.
///
/// The threads live through all rounds, and leave each start at the same moment. `TETHER_RACES` in
/// the environment makes the rounds more or fewer.
func race<Fixture: Sendable>(
    rounds full: Int = 3_000, sourceLocation: SourceLocation = #_sourceLocation,
    setUp: @escaping @Sendable (Int) -> Fixture,
    _ contestants: (@Sendable (Fixture) -> Void)...,
    check: @escaping @Sendable (Fixture) throws -> Void
) throws {
    let rounds = extent(full, times: "TETHER_RACES")
    let start = Meeting(of: contestants.count)
    let finish = Meeting(of: contestants.count)
    let fixture = Box<Fixture?>(nil)
    let broken = Box<BrokenInvariant?>(nil)

    @Sendable func compete(_ contestant: Int) {
        for round in 0..<rounds {
            if contestant == 0, broken.value == nil { fixture.set(setUp(round)) }
            start.meet()
            if broken.value != nil { return }
            if let fixture = fixture.value { contestants[contestant](fixture) }
            finish.meet()
            guard contestant == 0 else { continue }
            do {
                if let fixture = fixture.value { try check(fixture) }
            } catch {
                broken.set(BrokenInvariant(description: "In round \(round): \(error)"))
            }
            fixture.set(nil)
        }
    }

    onThreads(
        contestants.indices.map { index in { compete(index) } }, sourceLocation: sourceLocation)
    if let broken = broken.value { throw broken }
}

/// A place where a number of threads wait for each other, again and again.
///
/// Contestants spin first, so that they start together where each has a core. After a while they
/// sleep.
final class Meeting: @unchecked Sendable {
    // SAFETY: the size never changes, the arrivals are atomic, and a condition is made for several
    // threads.
    private let size: Int
    private let arrivals = Atomic<Int>(0)
    private let condition = NSCondition()

    init(of size: Int) {
        self.size = size
    }

    func meet() {
        let place = arrivals.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue
        let end = (place / size + 1) * size
        if place + 1 == end {
            condition.lock()
            condition.broadcast()
            condition.unlock()
            return
        }
        for _ in 0..<200 where arrivals.load(ordering: .acquiring) >= end { return }
        condition.lock()
        while arrivals.load(ordering: .acquiring) < end { condition.wait() }
        condition.unlock()
    }
}
