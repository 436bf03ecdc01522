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
