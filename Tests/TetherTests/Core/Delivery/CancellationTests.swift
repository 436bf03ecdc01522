import Foundation
import Testing

@testable import Tether

@Suite(.ownThread) struct CancellationTests {
    private func suspendedQueue(width: Int) -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        queue.isSuspended = true
        return queue
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

    @Test func `D2 cancelling an operation that runs on a concurrent queue drops no other operation's delivery`() {
        let (center, queue, log) = (ObserverCenter(), OperationQueue(), Log<Int>())
        queue.maxConcurrentOperationCount = 2
        let (isRunning, mayReturn, mayEnd) = (Gate(), Gate(), Gate())
        queue.addOperation { mayEnd.pass() }
        let token = center.observe(.sample, on: .operationQueue(queue)) { notification in
            if notification.number == 1 {
                isRunning.open()
                mayReturn.pass()
            }
            log.add(notification.number)
        }
        center.post(.sample, number: 1)
        isRunning.pass()
        let running = queue.operations.filter(\.isExecuting)
        center.post(.sample, number: 2)
        for operation in running { operation.cancel() }
        mayReturn.open()
        mayEnd.open()
        queue.settle()
        #expect(log.entries == [1, 2])
        #expect(center.audit().map(\.dropped) == [0])
        withExtendedLifetime(token) {}
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
}
