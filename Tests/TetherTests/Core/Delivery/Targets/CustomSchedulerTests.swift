import Dispatch
import Foundation
import Testing
import Tether

@Suite(.ownThread) struct CustomSchedulerTests {
    @Test func `D2 a dropped job drops its deliveries, counted, and none of a later post`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<Int>()
        let token = center.observe(.sample, on: .custom(scheduler)) { log.add($0.number) }
        center.post(.sample, numbers: 1...3)
        scheduler.dropAll()
        #expect(center.audit().map(\.dropped) == [3])
        #expect(center.audit().map(\.pending) == [0])
        center.post(.sample, numbers: 4...5)
        scheduler.runAll()
        #expect(log.entries == [4, 5])
        #expect(center.audit().map(\.dropped) == [3])
        withExtendedLifetime(token) {}
    }

    @Test func `D2 a job that is run twice delivers once`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<Int>()
        let token = center.observe(.sample, on: .custom(scheduler)) { log.add($0.number) }
        center.post(.sample, numbers: 1...2)
        let job = scheduler.take()
        job?()
        center.post(.sample, number: 3)
        job?()
        #expect(log.entries == [1])
        scheduler.runAll()
        #expect(log.entries == [1, 2, 3])
        #expect(center.audit().map(\.dropped) == [0])
        withExtendedLifetime(token) {}
    }

    private final class MainScheduler: DeliveryScheduler {
        let isScheduling = Gate()

        func schedule(_ job: @escaping @Sendable () -> Void) {
            isScheduling.open()
            DispatchQueue.main.sync(execute: job)
        }
    }

    /// Ends an observer on the main queue, while a post or a handler's return on another thread is
    /// in the scheduler, which waits for the main queue.
    private func endOnMain(
        _ token: NotificationObserver, in scheduler: MainScheduler,
        while schedule: @escaping @Sendable () -> Void
    ) {
        let isOnMain = Gate()
        onThreads(
            {
                isOnMain.pass()
                schedule()
            },
            {
                DispatchQueue.main.sync {
                    isOnMain.open()
                    scheduler.isScheduling.pass()
                    #expect(token.cancelAndWait() == .finished)
                }
            })
    }

    @Test(arguments: CenterKind.allCases)
    func `R2 nobody waits for a post in a scheduler, also if the scheduler waits`(
        kind: CenterKind
    ) {
        let center = kind.makeCenter()
        let scheduler = MainScheduler()
        let token = center.observe(.sample, on: .custom(scheduler)) { _ in }
        endOnMain(token, in: scheduler) { center.post(.sample) }
    }

    @Test func `R2 D6 nobody waits for a returned handler in the scheduler of the next block`() {
        let center = ObserverCenter()
        let first = ManualScheduler()
        let scheduler = MainScheduler()
        let (isRunning, mayReturn) = (Gate(), Gate())
        let token = center.observe(.sample, on: .custom(first)) { _ in
            isRunning.open()
            mayReturn.pass()
        }
        center.post(.sample, numbers: 1...2)
        let running = JoinableThread { first.take()?() }
        isRunning.pass()
        // The block of the second delivery begins during the first call, so the return submits it
        // again.
        token.target = .custom(scheduler)
        scheduler.isScheduling.pass()
        // As an audit retains a registration: the wait then asks for its handlers.
        let registration = token.registration
        endOnMain(token, in: scheduler) {
            mayReturn.open()
            running.join()
        }
        withExtendedLifetime(registration) {}
    }
}
