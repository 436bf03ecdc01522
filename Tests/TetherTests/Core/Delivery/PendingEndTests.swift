import Foundation
import Testing
import Tether

@Suite struct PendingEndTests {
    @Test func `R1 stopped by an earlier delivery of the same drain, the rest does not run`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<String>()
        let tokens = Box<[NotificationObserver]>([])
        tokens.set([
            center.observe(.sample, on: .custom(scheduler)) { notification in
                log.add("first\(notification.number)")
                if notification.number == 2 { tokens.value.last?.cancel() }
            },
            center.observe(.sample, on: .custom(scheduler)) { log.add("second\($0.number)") },
        ])
        center.post(.sample, numbers: 1...3)
        scheduler.runAll()
        #expect(log.entries == ["first1", "second1", "first2", "first3"])
        tokens.set([])
    }
}
