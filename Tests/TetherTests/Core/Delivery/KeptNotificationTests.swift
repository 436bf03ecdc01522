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

    @Test func `D9 the newest is delivered at the last unmute, on the poster's target before that returns`() {
        let token = observe()
        token.mute(keepingNewest: true)
        token.mute()
        center.post(.sample, numbers: 1...3)
        #expect(counts == [[1, 2, 2]])
        token.unmute()
        #expect(log.entries == [])
        token.unmute()
        #expect(log.entries == [3])
        #expect(counts == [[0, 2, 0]])
        center.post(.sample, number: 4)
        #expect(log.entries == [3, 4])
    }

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

    @Test func `D9 nothing is delivered where nothing was posted, and nothing twice`() {
        let token = observe()
        token.mute(keepingNewest: true)
        token.unmute()
        token.mute(keepingNewest: true)
        center.post(.sample, number: 1)
        token.unmute()
        token.mute()
        token.unmute()
        #expect(log.entries == [1])
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

    @Test func `D9 D6 it is delivered on the target that the observer has at the unmute`() {
        let second = ManualScheduler()
        let token = observe(on: .custom(scheduler))
        token.mute(keepingNewest: true)
        center.post(.sample, number: 1)
        token.target = .custom(second)
        token.unmute()
        scheduler.runAll()
        #expect(log.entries == [])
        second.runAll()
        #expect(log.entries == [1])
        token.mute(keepingNewest: true)
        center.post(.sample, number: 2)
        token.target = .postingThread
        #expect(log.entries == [1])
        token.unmute()
        #expect(log.entries == [1, 2])
    }

    @Test(arguments: [true, false])
    func `D9 R7 a once observer runs once, for what was kept`(isAsynchronous: Bool) {
        let token = observe(on: isAsynchronous ? .custom(scheduler) : .postingThread, once: true)
        token.mute(keepingNewest: true)
        center.post(.sample, numbers: 1...3)
        #expect(token.isActive)
        token.unmute()
        center.post(.sample, number: 4)
        scheduler.runAll()
        #expect(log.entries == [3])
        #expect(!token.isActive)
        #expect(center.core.isEmpty)
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

    @Test func `D9 R5 a handler that an unmuting calls may post, mute and unmute itself`() {
        let (center, log, box) = (center, log, Box<NotificationObserver?>(nil))
        let token = center.observe(.sample) { notification in
            log.add(notification.number)
            guard notification.number == 1 else { return }
            center.post(.sample, number: 2)
            box.value?.mute(keepingNewest: true)
            center.post(.sample, numbers: 3...4)
            box.value?.unmute()
            log.add(0)
        }
        box.set(token)
        token.mute(keepingNewest: true)
        center.post(.sample, number: 1)
        token.unmute()
        #expect(log.entries == [1, 2, 4, 0])
        box.set(nil)
    }

    @Test func `D9 R2 a handler that an unmute runs is waited for`() {
        let (center, log, began, goOn) = (center, Log<String>(), Gate(), Gate())
        let token = center.observe(.sample) { _ in
            began.open()
            goOn.pass()
            log.add("ran")
        }
        token.mute(keepingNewest: true)
        center.post(.sample, number: 1)
        onThreads(
            { token.unmute() },
            {
                began.pass()
                token.cancel()
                goOn.open()
                token.cancelAndWait()
                log.add("waited")
            })
        #expect(log.entries == ["ran", "waited"])
    }
}
