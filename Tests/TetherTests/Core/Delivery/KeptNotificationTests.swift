import Dispatch
import Foundation
import Testing

@testable import Tether

/// Muting that keeps the newest of what is posted meanwhile.
@Suite(.ownThread) struct KeptNotificationTests {
    private let center = ObserverCenter()
    private let scheduler = ManualScheduler()
    private let log = Log<Int>()

    private func observe(on target: DeliveryTarget = .postingThread, once: Bool = false) -> NotificationObserver {
        center.observe(.sample, on: target, once: once) { [log] in log.add($0.number) }
    }

    private var counts: [[Int]] { center.audit().map { [$0.pending, $0.dropped, $0.muteCount] } }

    @Test func `D9 on an asynchronous target it is enqueued behind what was pending, and before what is posted later`()
    {
        let token = observe(on: .custom(scheduler))
        center.post(.sample, number: 1)
        token.mute(keepingNewest: true)
        center.post(.sample, numbers: 2...3)
        #expect(counts == [[2, 1, 1]])
        token.unmute()
        center.post(.sample, number: 4)
        #expect(log.entries == [])
        #expect(counts == [[3, 1, 0]])
        scheduler.runAll()
        #expect(log.entries == [1, 3, 4])
    }

    @Test func `D9 the newest is kept from when the first of several mutings asks for it`() {
        let token = observe()
        token.mute()
        center.post(.sample, number: 1)
        #expect(counts == [[0, 1, 1]])
        token.mute(keepingNewest: true)
        center.post(.sample, number: 2)
        token.unmute()
        center.post(.sample, number: 3)
        #expect(counts == [[1, 2, 1]])
        token.unmute()
        #expect(log.entries == [3])
        // The wish has ended with the last unmute.
        token.mute()
        center.post(.sample, number: 4)
        token.unmute()
        #expect(log.entries == [3])
    }

    @Test func `D9 R7 a once observer whose one delivery is pending keeps and counts nothing`() {
        let token = observe(on: .custom(scheduler), once: true)
        center.post(.sample, number: 1)
        token.mute(keepingNewest: true)
        center.post(.sample, numbers: 2...3)
        #expect(counts == [[1, 0, 1]])
        token.unmute()
        scheduler.runAll()
        #expect(log.entries == [1])
    }
}
