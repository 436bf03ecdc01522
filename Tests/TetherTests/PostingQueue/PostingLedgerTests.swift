import Foundation
import Testing

@testable import Tether

/// The queues that a center knows of.
@Suite struct PostingLedgerTests {
    private let center = ObserverCenter()

    @Test func `M9 L1 a center lists the queues that live, in the order in which they were made, and no other`() {
        var queues = (0..<100).map { _ in PostingQueue(notificationCenter: center) }
        #expect(center.core.ledger.count == 100)
        #expect(center.core.ledger.live.map(ObjectIdentifier.init) == queues.map(ObjectIdentifier.init))
        queues.removeAll { $0.number % 3 != 0 }
        #expect(center.core.ledger.count == queues.count)
        #expect(center.core.ledger.live.map(ObjectIdentifier.init) == queues.map(ObjectIdentifier.init))
        queues.removeAll()
        #expect(center.core.ledger.count == 0)
    }
}
