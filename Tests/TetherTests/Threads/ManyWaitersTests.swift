import Testing

@testable import Tether

/// Many who wait for handlers at the same time.
@Suite struct ManyWaitersTests {
    private final class Observed: Sendable {}

    @Test func `R2 waiting for handlers costs the same for each, however many are waited for at the same time`() async {
        let growth = await growth(from: 100, to: 1600) { count in
            let observed = (0..<count).map { _ in Observed() }
            let runs = observed.map { AsyncRun(of: $0) { _ in } }
            let resumed = Log<Int>()
            for (number, one) in observed.enumerated() {
                #expect(HandlerWait.whenReturned(UInt(bitPattern: ObjectIdentifier(one))) { resumed.add(number) })
            }
            #expect(resumed.entries.isEmpty)
            for run in runs { await run.perform(on: nil) }
            #expect(resumed.entries == Array(0..<count))
        }
        #expect(growth < 6)
    }
}
