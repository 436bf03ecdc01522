import Dispatch
import Foundation
import Testing
import Tether

@Suite(.ownThread) struct QueueRetentionTests {
    private final class Weak<Object: AnyObject & Sendable>: @unchecked Sendable {
        weak var object: Object?
    }

    @Test func `D2 D6 a switch releases the old queue and retains the new one`() {
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

    @Test func `R8 O2 an ended observer whose block waits does not retain its scheduler`() {
        let center = ObserverCenter()
        let scheduler = Weak<ManualScheduler>()
        let token: NotificationObserver
        do {
            let made = ManualScheduler()
            scheduler.object = made
            token = center.observe(.sample, on: .custom(made)) { _ in }
        }
        center.post(.sample, number: 1)
        #expect(scheduler.object?.waiting == 1)
        token.cancel()
        #expect(scheduler.object == nil)
    }
}
