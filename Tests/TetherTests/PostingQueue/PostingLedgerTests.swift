import Dispatch
import Foundation
import Testing

@testable import Tether

/// The queues that a center knows of.
@Suite struct PostingLedgerTests {
    private let center = ObserverCenter()

    @Test func `M9 L1 a center lists the live queues and no other`() {
        var queues = (0..<100).map { _ in PostingQueue(notificationCenter: center) }
        #expect(center.core.ledger.count == 100)
        queues.removeLast(60)
        #expect(center.core.ledger.count == 40)
        queues.removeAll()
        #expect(center.core.ledger.count == 0)
    }

    @Test func `L1 an audit lists the queues with waiting notifications by place`() {
        let dispatchQueues = ["b", "c", "a"].map { DispatchQueue(label: $0) }
        for queue in dispatchQueues { queue.suspend() }
        let queues = dispatchQueues.map { PostingQueue(notificationCenter: center, queue: $0) }
        for queue in queues where queue !== queues[1] { queue.enqueue(.labelled("1"), postingStyle: .whenIdle) }
        #expect(center.audit().waitingPosts.map(\.place) == ["dispatch queue a", "dispatch queue b"])
        #expect(center.audit().waitingPosts.map(\.whenIdle) == [1, 1])
        for queue in dispatchQueues { queue.resume() }
    }
}
