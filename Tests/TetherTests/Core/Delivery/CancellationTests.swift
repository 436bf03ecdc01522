import Foundation
import Testing

@testable import Tether

@Suite(.ownThread) struct CancellationTests {
    private static let widths = [1, OperationQueue.defaultMaxConcurrentOperationCount]

    private func suspendedQueue(width: Int) -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        queue.isSuspended = true
        return queue
    }

    @Test(arguments: widths)
    func `D2 cancelled operations drop what was pending, counted, and nothing that is posted later`(width: Int) {
        let center = ObserverCenter()
        let queue = suspendedQueue(width: width)
        let log = Log<Int>()
        let token = center.observe(.sample, on: .operationQueue(queue)) { log.add($0.number) }
        center.post(.sample, numbers: 1...3)
        queue.cancelAllOperations()
        #expect(center.audit().map(\.dropped) == [3])
        #expect(center.audit().map(\.pending) == [0])
        center.post(.sample, numbers: 4...5)
        #expect(center.audit().map(\.pending) == [2])
        queue.isSuspended = false
        queue.settle()
        #expect(log.entries == [4, 5])
        center.post(.sample, number: 6)
        queue.settle()
        #expect(log.entries == [4, 5, 6])
        #expect(center.audit().map(\.dropped) == [3])
        withExtendedLifetime(token) {}
    }

    @Test func `D2 cancelling counts for each observer on a serial queue what it lost`() {
        let center = ObserverCenter()
        let queue = suspendedQueue(width: 1)
        let tokens = [
            center.observe(.sample, on: .operationQueue(queue)) { _ in },
            center.observe(.other, on: .operationQueue(queue)) { _ in },
        ]
        center.post(.sample, numbers: 1...3)
        center.post(.other, number: 1)
        queue.cancelAllOperations()
        #expect(center.audit().map(\.dropped) == [3, 1])
        queue.isSuspended = false
        withExtendedLifetime(tokens) {}
    }

    @Test func `D2 cancelling twice, with posts in between, counts each loss once`() {
        let center = ObserverCenter()
        let queue = suspendedQueue(width: 1)
        let log = Log<Int>()
        let token = center.observe(.sample, on: .operationQueue(queue)) { log.add($0.number) }
        center.post(.sample, number: 1)
        queue.cancelAllOperations()
        queue.cancelAllOperations()
        center.post(.sample, number: 2)
        queue.cancelAllOperations()
        center.post(.sample, number: 3)
        queue.isSuspended = false
        queue.settle()
        #expect(log.entries == [3])
        #expect(center.audit().map(\.dropped) == [2])
        withExtendedLifetime(token) {}
    }

    @Test func `D2 what was posted before a queue's operations are cancelled does not begin after it`() {
        for _ in 0..<extent(1000, times: "TETHER_RACES") {
            let (center, queue) = (ObserverCenter(), OperationQueue.serial())
            let (hasBegun, isCancelled, late) = (Flag(), Flag(), Counter())
            let token = center.observe(.sample, on: .operationQueue(queue)) { _ in
                if isCancelled.isRaised { late.add() }
                hasBegun.raise()
            }
            center.post(.sample, numbers: 1...3)
            while !hasBegun.isRaised {}
            center.post(.sample, numbers: 4...8)
            queue.cancelAllOperations()
            isCancelled.raise()
            queue.settle()
            // The drain may be at one.
            #expect(late.count <= 1)
            withExtendedLifetime(token) {}
        }
    }

    @Test func `D2 cancelling while a handler runs drops what is behind it and lets it finish`() {
        let center = ObserverCenter()
        let queue = OperationQueue.serial()
        let log = Log<Int>()
        let isRunning = Gate()
        let mayGoOn = Gate()
        let token = center.observe(.sample, on: .operationQueue(queue)) { notification in
            if notification.number == 1 {
                isRunning.open()
                mayGoOn.pass()
            }
            log.add(notification.number)
        }
        queue.isSuspended = true
        center.post(.sample, numbers: 1...3)
        queue.isSuspended = false
        isRunning.pass()
        center.post(.sample, number: 4)
        queue.cancelAllOperations()
        center.post(.sample, number: 5)
        mayGoOn.open()
        queue.settle()
        #expect(log.entries == [1, 5])
        #expect(center.audit().map(\.dropped) == [3])
        withExtendedLifetime(token) {}
    }

    @Test func `D2 cancelling releases the payload of what is dropped`() {
        let center = ObserverCenter()
        let queue = suspendedQueue(width: 1)
        let log = Log<String>()
        let token = center.observe(.sample, on: .operationQueue(queue)) { _ in }
        center.post(name: .sample, object: nil, userInfo: ["payload": Ending { log.add("released") }])
        #expect(log.entries == [])
        queue.cancelAllOperations()
        #expect(log.entries == ["released"])
        queue.isSuspended = false
        withExtendedLifetime(token) {}
    }

    @Test func `D2 R5 a deinit that cancelling releases may post to the same queue, and that is delivered`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<Int>()
        // Ended by the drop, so that its capture goes before the second observer's delivery is dropped.
        let ended = observeOnceWithCapture(center, on: scheduler) {
            center.post(.other, number: 2)
            scheduler.runAll()
        }
        let observer = center.observe(.other, on: .custom(scheduler)) { log.add($0.number) }
        center.post(.sample, number: 1)
        center.post(.other, number: 1)
        scheduler.dropAll()
        #expect(log.entries == [2])
        center.post(.other, number: 3)
        scheduler.runAll()
        #expect(log.entries == [2, 3])
        #expect(center.audit().map(\.pending) == [0])
        #expect(center.audit().map(\.dropped) == [1])
        withExtendedLifetime((ended, observer)) {}
    }

    private func observeOnceWithCapture(
        _ center: ObserverCenter, on scheduler: ManualScheduler, whenReleased: @escaping @Sendable () -> Void
    ) -> NotificationObserver {
        let capture = Ending(whenReleased)
        return center.observe(.sample, on: .custom(scheduler), once: true) { _ in capture.touch() }
    }
}
