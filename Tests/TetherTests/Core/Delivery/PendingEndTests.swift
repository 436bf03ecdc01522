import Foundation
import Testing
import Tether

@Suite struct PendingEndTests {
    @Test func `R1 what was enqueued does not run after stop, nor after the token went`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<Int>()
        let stopped = center.observe(.sample, on: .custom(scheduler)) { log.add($0.number) }
        var dropped: NotificationObserver? = center.observe(.sample, on: .custom(scheduler)) { log.add($0.number) }
        center.post(.sample, numbers: 1...3)
        withExtendedLifetime(dropped) {}
        stopped.cancel()
        dropped = nil
        scheduler.runAll()
        #expect(log.entries == [])
        #expect(center.audit().isEmpty)
    }

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

    @Test func `R1 one that stops itself in a delivery runs no further one`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<Int>()
        let token = Box<NotificationObserver?>(nil)
        token.set(
            center.observe(.sample, on: .custom(scheduler)) { notification in
                log.add(notification.number)
                token.value?.cancel()
            })
        center.post(.sample, numbers: 1...3)
        scheduler.runAll()
        #expect(log.entries == [1])
        token.set(nil)
    }

    @Test func `R8 stop drops handler and payload of what is only enqueued before it returns`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<String>()
        let token = observer(of: center, on: scheduler, log: log)
        center.post(name: .sample, object: nil, userInfo: ["payload": Ending { log.add("payload") }])
        #expect(log.entries == [])
        token.cancel()
        #expect(log.entries.sorted() == ["capture", "payload"])
        #expect(scheduler.waiting == 1)
        scheduler.runAll()
    }

    @Test func `R8 a payload is released after its delivery`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<String>()
        let token = observer(of: center, on: scheduler, log: log)
        center.post(name: .sample, object: nil, userInfo: ["payload": Ending { log.add("payload") }])
        scheduler.runAll()
        #expect(log.entries == ["payload"])
        token.cancel()
        #expect(log.entries == ["payload", "capture"])
    }

    private func observer(
        of center: ObserverCenter, on scheduler: ManualScheduler, log: Log<String>
    ) -> NotificationObserver {
        let capture = Ending { log.add("capture") }
        return center.observe(.sample, on: .custom(scheduler)) { _ in capture.touch() }
    }

    @Test func `R10 a center that goes takes what was enqueued with it`() {
        let scheduler = ManualScheduler()
        let log = Log<String>()
        var center: ObserverCenter? = ObserverCenter()
        let token = observer(of: center!, on: scheduler, log: log)
        center?.post(name: .sample, object: nil, userInfo: ["payload": Ending { log.add("payload") }])
        center = nil
        #expect(log.entries.sorted() == ["capture", "payload"])
        #expect(!token.isActive)
        scheduler.runAll()
        #expect(log.entries.count == 2)
    }

    @Test func `R10 a center may go in a delivery`() {
        let scheduler = ManualScheduler()
        let log = Log<Int>()
        let center = Box<ObserverCenter?>(ObserverCenter())
        let token = center.value?.observe(.sample, on: .custom(scheduler)) { notification in
            log.add(notification.number)
            center.set(nil)
        }
        center.value?.post(.sample, numbers: 1...2)
        scheduler.runAll()
        #expect(log.entries == [1])
        #expect(token?.isActive == false)
        withExtendedLifetime(token) {}
    }

    @Test func `O4 O3 what was enqueued does not run once the owner has gone, and is released before its deinit`() {
        final class Owner: Sendable {
            let log: Log<String>

            init(log: Log<String>) {
                self.log = log
            }

            deinit { log.add("deinit") }
        }
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<String>()
        let owner = Box<Owner?>(Owner(log: log))
        do {
            let capture = Ending { log.add("capture") }
            center.observe(.sample, owner: owner.value!, on: .custom(scheduler)) { owner, _ in
                capture.touch()
                owner.log.add("handler")
            }
            center.observe(.sample, owner: owner.value!, on: .custom(scheduler)) { _, _ in
                log.add("handler")
            }
        }
        center.post(.sample, number: 1)
        owner.set(nil)
        #expect(log.entries == ["capture", "deinit"])
        scheduler.runAll()
        #expect(log.entries == ["capture", "deinit"])
        #expect(center.audit().isEmpty)
    }

    @Test func `O4 O9 an owner whose last reference goes in its own delivery ends after the handler`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<String>()
        let owner = Box<Ending?>(Ending { log.add("deinit") })
        center.observe(.sample, owner: owner.value!, on: .custom(scheduler)) { _, notification in
            log.add("begins\(notification.number)")
            owner.set(nil)
            log.add("ends\(notification.number)")
        }
        center.post(.sample, numbers: 1...2)
        scheduler.runAll()
        #expect(log.entries == ["begins1", "ends1", "deinit"])
        #expect(center.audit().isEmpty)
    }
}
