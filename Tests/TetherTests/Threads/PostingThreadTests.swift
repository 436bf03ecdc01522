import Testing

@testable import Tether

/// What a thread tells the others of the handlers that it runs.
@Suite struct PostingThreadTests {
    @Test func `R2 a handler is announced while it runs, at its pin, and no longer when it has returned`() throws {
        let (center, addresses, looks) = (ObserverCenter(), Box<[UInt]>([]), Log<[Int]>())
        @Sendable func look() { looks.add(addresses.value.map { PostingThread.threads(running: $0).count }) }
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
}
