import Dispatch
import Foundation
import Testing
import Tether

@Suite(.ownThread) struct QueueDeliveryTests {
    private static let key = DispatchSpecificKey<String>()

    private func labelled(_ label: String) -> DispatchQueue {
        let queue = DispatchQueue(label: label)
        queue.setSpecific(key: QueueDeliveryTests.key, value: label)
        return queue
    }

    @Test func `D2 a dispatch queue's deliveries run on that queue, in posting order`() {
        let center = ObserverCenter()
        let queue = labelled("work")
        let log = Log<String>()
        let token = center.observe(.sample, on: .dispatchQueue(queue)) { notification in
            log.add("\(notification.number) on \(DispatchQueue.getSpecific(key: QueueDeliveryTests.key) ?? "nothing")")
        }
        center.post(.sample, numbers: 1...3)
        queue.settle()
        #expect(log.entries == ["1 on work", "2 on work", "3 on work"])
        withExtendedLifetime(token) {}
    }

    @Test func `D2 an operation queue's deliveries run on that queue, in posting order`() {
        let center = ObserverCenter()
        let queue = OperationQueue.serial()
        let log = Log<String>()
        let token = center.observe(.sample, on: .operationQueue(queue)) { notification in
            log.add("\(notification.number) \(OperationQueue.current === queue)")
        }
        center.post(.sample, numbers: 1...3)
        queue.settle()
        #expect(log.entries == ["1 true", "2 true", "3 true"])
        withExtendedLifetime(token) {}
    }

    @Test func `D2 a suspended dispatch queue does not hold the poster up, and delivers in order when it resumes`() {
        let center = ObserverCenter()
        let queue = DispatchQueue(label: "suspended")
        let log = Log<Int>()
        let token = center.observe(.sample, on: .dispatchQueue(queue)) { log.add($0.number) }
        queue.suspend()
        onThreads({ center.post(.sample, numbers: 1...100) })
        #expect(log.entries == [])
        #expect(center.audit().map(\.pending) == [100])
        queue.resume()
        queue.settle()
        #expect(log.entries == Array(1...100))
        #expect(center.audit().map(\.pending) == [0])
        withExtendedLifetime(token) {}
    }

    @Test(arguments: [1, OperationQueue.defaultMaxConcurrentOperationCount])
    func `D2 a suspended operation queue does not hold the poster up, and delivers in order when it resumes`(
        width: Int
    ) {
        let center = ObserverCenter()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        queue.isSuspended = true
        let log = Log<Int>()
        let token = center.observe(.sample, on: .operationQueue(queue)) { log.add($0.number) }
        onThreads({ center.post(.sample, numbers: 1...100) })
        #expect(log.entries == [])
        #expect(center.audit().map(\.pending) == [100])
        queue.isSuspended = false
        queue.settle()
        #expect(log.entries == Array(1...100))
        withExtendedLifetime(token) {}
    }

    @Test func `D2 a busy queue does not hold the poster up`() {
        let center = ObserverCenter()
        let dispatchQueue = DispatchQueue(label: "busy")
        let operationQueue = OperationQueue.serial()
        let log = Log<Int>()
        let tokens = [
            center.observe(.sample, on: .dispatchQueue(dispatchQueue)) { log.add($0.number) },
            center.observe(.other, on: .operationQueue(operationQueue)) { log.add($0.number) },
        ]
        let isFree = Gate()
        dispatchQueue.async { isFree.pass() }
        operationQueue.addOperation { isFree.pass() }
        onThreads({
            center.post(.sample, number: 1)
            center.post(.other, number: 2)
        })
        #expect(log.entries == [])
        isFree.open()
        isFree.open()
        dispatchQueue.settle()
        operationQueue.settle()
        #expect(log.entries.sorted() == [1, 2])
        withExtendedLifetime(tokens) {}
    }

    @Test func `D2 posting from the target's own queue enqueues behind what runs there`() {
        let center = ObserverCenter()
        let dispatchQueue = DispatchQueue(label: "own")
        let operationQueue = OperationQueue.serial()
        let log = Log<String>()
        let tokens = [
            center.observe(.sample, on: .dispatchQueue(dispatchQueue)) { _ in log.add("dispatch handler") },
            center.observe(.other, on: .operationQueue(operationQueue)) { _ in log.add("operation handler") },
        ]
        dispatchQueue.async {
            center.post(.sample, number: 1)
            log.add("dispatch posted")
        }
        dispatchQueue.settle()
        operationQueue.addOperation {
            center.post(.other, number: 1)
            log.add("operation posted")
        }
        operationQueue.settle()
        #expect(
            log.entries == ["dispatch posted", "dispatch handler", "operation posted", "operation handler"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `D2 posting from an operation queue's underlying queue does not wait for that queue`() {
        let center = ObserverCenter()
        let underlying = DispatchQueue(label: "underlying")
        let queue = OperationQueue.serial()
        // SAFETY: `underlying` lives until the end of the test.
        unsafe queue.underlyingQueue = underlying
        let log = Log<String>()
        let token = center.observe(.sample, on: .operationQueue(queue)) { _ in log.add("handler") }
        underlying.async {
            center.post(.sample, number: 1)
            log.add("posted")
        }
        underlying.settle()
        queue.settle()
        #expect(log.entries == ["posted", "handler"])
        withExtendedLifetime((token, underlying)) {}
    }

    @Test func `D2 two serial queues whose handlers post to each other both go on`() {
        let center = ObserverCenter()
        let ping = OperationQueue.serial()
        let pong = OperationQueue.serial()
        let log = Log<Int>()
        let isDone = Gate()
        let tokens = [
            center.observe(.sample, on: .operationQueue(ping)) { [weak center] notification in
                log.add(notification.number)
                center?.post(.other, number: notification.number + 1)
            },
            center.observe(.other, on: .operationQueue(pong)) { [weak center] notification in
                log.add(notification.number)
                if notification.number < 100 {
                    center?.post(.sample, number: notification.number + 1)
                } else {
                    isDone.open()
                }
            },
        ]
        center.post(.sample, number: 1)
        isDone.pass()
        #expect(log.entries == Array(1...100))
        withExtendedLifetime(tokens) {}
    }
}
