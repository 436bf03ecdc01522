import Dispatch
import Foundation
import Testing
import Tether

@Suite(.ownThread) struct CustomSchedulerTests {
    @Test
    func
        `D2 a job that is dropped drops what it stood for, counted, and nothing that is posted later`()
    {
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

    @Test
    func `R2 a post that is in a scheduler is not waited for, whoever the scheduler waits for`() {
        let center = ObserverCenter()
        let scheduler = MainScheduler()
        let token = center.observe(.sample, on: .custom(scheduler)) { _ in }
        let isOnMain = Gate()
        onThreads(
            {
                isOnMain.pass()
                center.post(.sample, number: 1)
            },
            {
                DispatchQueue.main.sync {
                    isOnMain.open()
                    scheduler.isScheduling.pass()
                    #expect(token.cancelAndWait() == .finished)
                }
            })
    }
}
