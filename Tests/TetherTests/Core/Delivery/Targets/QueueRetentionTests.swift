import Dispatch
import Foundation
import Testing
import Tether

@Suite(.ownThread) struct QueueRetentionTests {
    private final class Weak<Object: AnyObject & Sendable>: @unchecked Sendable {
        weak var object: Object?
    }

    private final class EndingQueue: OperationQueue, @unchecked Sendable {
        let hasEnded = Gate()

        deinit { hasEnded.open() }
    }

    @Test(arguments: [1, OperationQueue.defaultMaxConcurrentOperationCount])
    func `D2 an operation queue that nobody else retains lives as long as its observer`(width: Int) {
        let center = ObserverCenter()
        let queue = Weak<EndingQueue>()
        let hasEnded: Gate
        let isDelivered = Gate()
        var token: NotificationObserver?
        do {
            let made = EndingQueue()
            made.maxConcurrentOperationCount = width
            queue.object = made
            hasEnded = made.hasEnded
            token = center.observe(.sample, on: .operationQueue(made)) { _ in isDelivered.open() }
        }
        #expect(queue.object != nil)
        center.post(.sample, number: 1)
        isDelivered.pass()
        center.post(.sample, number: 2)
        isDelivered.pass()
        #expect(queue.object != nil)
        token?.cancel()
        token = nil
        // On whichever thread the last operation ends.
        hasEnded.pass()
    }

    @Test func `D2 a dispatch queue that nobody else retains lives as long as its observer`() {
        let center = ObserverCenter()
        let hasEnded = Gate()
        let isDelivered = Gate()
        let key = DispatchSpecificKey<Ending>()
        var token: NotificationObserver?
        do {
            let queue = DispatchQueue(label: "unretained")
            queue.setSpecific(key: key, value: Ending { hasEnded.open() })
            token = center.observe(.sample, on: .dispatchQueue(queue)) { _ in isDelivered.open() }
        }
        center.post(.sample, number: 1)
        isDelivered.pass()
        center.post(.sample, number: 2)
        isDelivered.pass()
        token?.cancel()
        token = nil
        // A queue lets go of its specific values when it ends.
        hasEnded.pass()
    }

    @Test func `D2 a custom scheduler lives as long as its observer, with a job that never ran`() {
        let center = ObserverCenter()
        let scheduler = Weak<ManualScheduler>()
        var token: NotificationObserver?
        do {
            let made = ManualScheduler()
            scheduler.object = made
            token = center.observe(.sample, on: .custom(made)) { _ in }
        }
        #expect(scheduler.object != nil)
        center.post(.sample, number: 1)
        #expect(scheduler.object?.waiting == 1)
        token?.cancel()
        #expect(scheduler.object == nil)
        token = nil
    }

    @Test func `D2 a suspended operation queue that nobody else retains goes once it resumes without its observer`() {
        let center = ObserverCenter()
        let queue = Weak<EndingQueue>()
        let hasEnded: Gate
        let log = Log<Int>()
        var token: NotificationObserver?
        do {
            let made = EndingQueue()
            made.isSuspended = true
            queue.object = made
            hasEnded = made.hasEnded
            token = center.observe(.sample, on: .operationQueue(made)) { log.add($0.number) }
        }
        center.post(.sample, number: 1)
        token?.cancel()
        token = nil
        queue.object?.isSuspended = false
        hasEnded.pass()
        #expect(log.entries == [])
    }

    @Test func `D2 D6 a switch lets go of the old queue and holds the new one`() {
        let center = ObserverCenter()
        let old = Weak<ManualScheduler>()
        let new = Weak<ManualScheduler>()
        let log = Log<Int>()
        let token: NotificationObserver
        do {
            let made = ManualScheduler()
            old.object = made
            token = center.observe(.sample, on: .custom(made)) { log.add($0.number) }
        }
        do {
            let made = ManualScheduler()
            new.object = made
            token.target = .custom(made)
        }
        #expect(old.object == nil)
        center.post(.sample, number: 1)
        new.object?.runAll()
        #expect(log.entries == [1])
        token.cancel()
        #expect(new.object == nil)
    }
}
