import Testing

@testable import Tether

/// Hazard pointers, and the table of their guards.
@Suite struct ThreadRecordTests {
    @Test func `R2 a hazard pointer leads to a handler while it runs, not after its return`()
        throws
    {
        let (center, addresses, looks) = (
            ObserverCenter(), Box<[RegistrationAddress]>([]), Log<[Int]>()
        )
        @Sendable func look() {
            looks.add(addresses.value.map { EpochGuard.threads(calling: $0).count })
        }
        let outer = center.observe(.sample) { _ in
            look()
            center.post(.other, number: 2)
            look()
        }
        let inner = center.observe(.other) { _ in look() }
        addresses.set(try [outer, inner].map { try #require($0.registration).address })
        center.post(.sample, number: 1)
        look()
        #expect(looks.entries == [[1, 0], [1, 1], [1, 0], [0, 0]])
        withExtendedLifetime((outer, inner)) {}
    }

    @Test(.ownThread) func `R2 hazard pointers of many threads are all seen`() throws {
        let center = ObserverCenter()
        let (isRunning, mayReturn) = (Gate(), Gate())
        let token = center.observe(.sample) { _ in
            isRunning.open()
            mayReturn.pass()
        }
        let address = try #require(token.registration).address
        let threads = (0..<70).map { _ in JoinableThread { center.post(name: .sample, object: nil) }
        }
        for _ in 0..<70 { isRunning.pass() }
        #expect(EpochGuard.threads(calling: address).count == 70)
        for _ in 0..<70 { mayReturn.open() }
        for thread in threads { thread.join() }
        #expect(EpochGuard.threads(calling: address).isEmpty)
        token.cancel()
    }
}
