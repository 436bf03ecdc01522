import Dispatch
import Foundation
import Testing
import Tether

@Suite(.ownThread) struct OnceDeliveryTests {
    @Test func `R7 a delivery that is dropped by a cancelled queue uses it up`() {
        let center = ObserverCenter()
        let queue = OperationQueue()
        queue.isSuspended = true
        let log = Log<String>()
        let token = onceWithCapture(center, on: .operationQueue(queue), log: log)
        center.post(.sample, number: 1)
        #expect(token.isActive)
        queue.cancelAllOperations()
        #expect(!token.isActive)
        #expect(log.entries == ["released"])
        center.post(.sample, number: 2)
        queue.isSuspended = false
        queue.settle()
        #expect(log.entries == ["released"])
        #expect(center.audit().isEmpty)
    }

    private func onceWithCapture(
        _ center: ObserverCenter, on target: DeliveryTarget, log: Log<String>
    ) -> NotificationObserver {
        let capture = Ending { log.add("released") }
        return center.observe(.sample, on: target, once: true) { notification in
            capture.touch()
            log.add("ran \(notification.number)")
        }
    }
}
