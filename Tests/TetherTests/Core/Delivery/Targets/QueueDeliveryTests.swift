import Dispatch
import Foundation
import Testing
import Tether

@Suite(.ownThread) struct QueueDeliveryTests {
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
