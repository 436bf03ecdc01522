import Foundation
import Testing

@testable import Tether

/// What other ends find while a bulk end is under way.
@Suite struct BulkEndTests {
    @Test func `R8 R9 an observer that is stopped during a bulk end lets go of what it captured at once`() {
        let center = ObserverCenter()
        let second = Holder<NotificationObserver>()
        let (isAlive, seen) = (Flag(), Log<Bool>())
        isAlive.raise()
        let first = Holder<Ending>()
        first.object = Ending {
            second.object?.stop()
            seen.add(isAlive.isRaised)
        }
        let token = center.observe(.sample) { [ending = first.object!] _ in ending.touch() }
        first.release()
        let capture = Holder(Ending { isAlive.lower() })
        second.object = center.observe(.sample) { [ending = capture.object!] _ in ending.touch() }
        capture.release()
        center.removeObservers(named: .sample)
        #expect(seen.entries == [false])
        #expect(center.core.isEmpty)
        withExtendedLifetime(token) {}
        second.release()
    }

    @Test func `D2 a queue that is a scheduler, too, has a mailbox as each`() {
        final class SchedulingQueue: OperationQueue, DeliveryScheduler, @unchecked Sendable {
            func schedule(_ job: @escaping @Sendable () -> Void) { addOperation(job) }
        }
        let queue = SchedulingQueue()
        queue.maxConcurrentOperationCount = 1
        let routes = [Route(to: .operationQueue(queue)), Route(to: .custom(queue)), Route(to: .operationQueue(queue))]
        #expect(routes[0].mailbox !== routes[1].mailbox)
        #expect(routes[0].mailbox === routes[2].mailbox)
    }
}
