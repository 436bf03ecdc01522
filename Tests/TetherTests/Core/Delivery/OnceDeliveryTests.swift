import Dispatch
import Foundation
import Testing
import Tether

@Suite(.ownThread) struct OnceDeliveryTests {
    @Test func `R7 once on an asynchronous target runs once, for the first of several posts`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<Int>()
        let token = center.observe(.sample, on: .custom(scheduler), once: true) { log.add($0.number) }
        center.post(.other, number: 0)
        center.post(.sample, numbers: 1...3)
        #expect(token.isActive)
        #expect(center.audit().map(\.pending) == [1])
        scheduler.runAll()
        center.post(.sample, number: 4)
        scheduler.runAll()
        #expect(log.entries == [1])
        #expect(!token.isActive)
        #expect(center.audit().isEmpty)
    }

    @Test func `R7 once on every kind of queue runs once`() {
        let center = ObserverCenter()
        let log = Log<String>()
        let serial = DispatchQueue(label: "serial")
        let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
        let operations = OperationQueue()
        let tokens = [
            center.observe(.sample, on: .dispatchQueue(serial), once: true) { _ in log.add("serial") },
            center.observe(.sample, on: .dispatchQueue(concurrent, concurrently: true), once: true) { _ in
                log.add("concurrent")
            },
            center.observe(.sample, on: .operationQueue(operations), once: true) { _ in log.add("operations") },
            center.observe(.sample, once: true) { _ in log.add("poster") },
        ]
        onThreads(
            (0..<3).map { poster in { center.post(.sample, numbers: 1...100) } })
        serial.settle()
        concurrent.settle()
        operations.settle()
        #expect(log.entries.sorted() == ["concurrent", "operations", "poster", "serial"])
        #expect(tokens.map(\.isActive) == [false, false, false, false])
    }

    @Test func `R7 a handler that posts again while it runs once is not called again`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<String>()
        let tokens = [
            center.observe(.sample, once: true) { [weak center] _ in
                log.add("poster")
                center?.post(.sample, number: 2)
            },
            center.observe(.sample, on: .custom(scheduler), once: true) { [weak center] _ in
                log.add("scheduler")
                center?.post(.sample, number: 3)
            },
        ]
        center.post(.sample, number: 1)
        scheduler.runAll()
        #expect(log.entries == ["poster", "scheduler"])
        withExtendedLifetime(tokens) {}
    }

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

    @Test func `R7 stopped while enqueued it does not run`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<String>()
        let token = onceWithCapture(center, on: .custom(scheduler), log: log)
        center.post(.sample, number: 1)
        token.cancel()
        #expect(log.entries == ["released"])
        scheduler.runAll()
        #expect(log.entries == ["released"])
    }

    @Test func `R7 D6 switched while enqueued it runs once, on the new target`() {
        let center = ObserverCenter()
        let first = ManualScheduler()
        let second = ManualScheduler()
        let log = Log<String>()
        let token = onceWithCapture(center, on: .custom(first), log: log)
        center.post(.sample, number: 1)
        token.target = .custom(second)
        center.post(.sample, number: 2)
        first.runAll()
        #expect(log.entries == [])
        second.runAll()
        #expect(log.entries == ["ran 1", "released"])
    }

    @Test func `R7 D6 switched to the posting thread while a delivery is pending it runs once, on the old target`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<String>()
        let token = onceWithCapture(center, on: .custom(scheduler), log: log)
        center.post(.sample, number: 1)
        token.target = .postingThread
        #expect(log.entries == [])
        center.post(.sample, number: 2)
        #expect(log.entries == [])
        scheduler.runAll()
        #expect(log.entries == ["ran 1", "released"])
        center.post(.sample, number: 3)
        #expect(log.entries == ["ran 1", "released"])
        #expect(!token.isActive)
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
