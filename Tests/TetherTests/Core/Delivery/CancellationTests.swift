import Foundation
import Testing
import Tether

@Suite(.ownThread) struct CancellationTests {
    /// Logs the numbers of posts. The handler of post 1 opens the first gate, and waits for the
    /// second.
    private func observe(
        on target: DeliveryTarget, of center: ObserverCenter, _ log: Log<Int>, _ isRunning: Gate,
        _ mayReturn: Gate
    ) -> NotificationObserver {
        center.observe(.sample, on: target) { notification in
            if notification.number == 1 {
                isRunning.open()
                mayReturn.pass()
            }
            log.add(notification.number)
        }
    }

    @Test func `D2 cancelling a concurrent queue's running operation drops no other's delivery`() {
        let (center, queue, log) = (ObserverCenter(), OperationQueue(), Log<Int>())
        queue.maxConcurrentOperationCount = 2
        let (isRunning, mayReturn, mayEnd) = (Gate(), Gate(), Gate())
        queue.addOperation { mayEnd.pass() }
        let token = observe(on: .operationQueue(queue), of: center, log, isRunning, mayReturn)
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

    @Test func `D2 cancelling lets a running handler finish, and drops later deliveries`() {
        let center = ObserverCenter()
        let queue = OperationQueue.serial()
        let log = Log<Int>()
        let isRunning = Gate()
        let mayGoOn = Gate()
        let token = observe(on: .operationQueue(queue), of: center, log, isRunning, mayGoOn)
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

    @Test(arguments: [true, false])
    func `D2 D7 with batching, cancelling drops deliveries of an operation not yet begun`(
        first: Bool
    ) {
        let (center, queue, log) = (ObserverCenter(), OperationQueue.serial(), Log<Int>())
        let (isRunning, mayGoOn) = (Gate(), Gate())
        let token = observe(
            on: .operationQueue(queue, batching: true), of: center, log, isRunning, mayGoOn)
        queue.isSuspended = true
        center.post(.sample, numbers: 1...4)
        queue.isSuspended = false
        isRunning.pass()
        center.post(.sample, numbers: 5...6)
        #expect(queue.operations.count == 2)
        (first ? queue.operations.first : queue.operations.last)?.cancel()
        mayGoOn.open()
        queue.settle()
        #expect(log.entries == (first ? Array(1...6) : [1, 2, 3, 4]))
        #expect(center.audit().map(\.dropped) == [first ? 0 : 2])
        withExtendedLifetime(token) {}
    }
}
