import Foundation
import Testing

@testable import Tether

/// What a sender's `deinit` has enqueued, and what becomes of it.
@Suite struct EndedSenderTests: SenderEndSuite {
    let log = Log<String>()

    @Test(arguments: LifetimeMode.allCases)
    func `M5 X3 what a sender's deinit enqueued is delivered, with no object, then its observers end`(
        mode: LifetimeMode
    ) {
        let center = mode.makeCenter()
        let scheduler = HeldJobs()
        let sender = Holder(
            LoggedObject("sender", log) { sender in
                center.post(name: .sample, object: sender)
                center.post(name: .sample, object: sender)
            })
        let token = observe(center, sender, on: .custom(scheduler))
        sender.release()
        OwnerLifetime.purge()
        #expect(log.entries == ["sender deinit"])
        #expect(center.audit().map(\.pending) == [2])
        #expect(token.isActive)
        scheduler.run()
        mode.expectAfterEnd(center.core.isEmpty && !token.isActive && log.entries.count == 4)
        #expect(log.entries == ["sender deinit", "handler, object none", "handler, object none", "capture deinit"])
    }

    @Test(arguments: LifetimeMode.allCases)
    func `M5 R7 a once observer is used up by what a sender's deinit enqueued`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let scheduler = HeldJobs()
        let sender = lastWordSender(center)
        let token = observe(center, sender, on: .custom(scheduler), once: true)
        sender.release()
        scheduler.run()
        mode.expectAfterEnd(center.core.isEmpty && !token.isActive)
        #expect(log.entries == ["sender deinit", "handler, object none", "capture deinit"])
    }

    @Test(arguments: LifetimeMode.allCases)
    func `M5 R1 what a sender's deinit enqueued is dropped by stop`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let scheduler = HeldJobs()
        let sender = lastWordSender(center)
        let token = observe(center, sender, on: .custom(scheduler))
        sender.release()
        token.cancel()
        #expect(log.entries == ["sender deinit", "capture deinit"])
        scheduler.run()
        #expect(log.entries == ["sender deinit", "capture deinit"])
        #expect(center.core.isEmpty)
    }

    @Test(arguments: LifetimeMode.allCases)
    func `M5 O4 what a sender's deinit enqueued is dropped when the observer's owner ends`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let scheduler = HeldJobs()
        let sender = lastWordSender(center)
        let owner = Holder(LoggedObject("owner", log))
        center.observe(.sample, from: sender.object!, owner: owner.object!, on: .custom(scheduler)) {
            [log] _, _ in log.add("handler")
        }
        sender.release()
        owner.release()
        mode.expectAfterEnd(center.core.isEmpty)
        scheduler.run()
        #expect(log.entries == ["sender deinit", "owner deinit"])
    }

    @Test(arguments: LifetimeMode.allCases)
    func `M5 R10 what a sender's deinit enqueued is dropped when the center ends`(mode: LifetimeMode) {
        let center = Holder(mode.makeCenter())
        let scheduler = HeldJobs()
        let sender = Holder(
            LoggedObject("sender", log) { sender in center.object?.post(name: .sample, object: sender) })
        let token = observe(center.object!, sender, on: .custom(scheduler))
        sender.release()
        #expect(token.isActive)
        center.release()
        #expect(!token.isActive)
        scheduler.run()
        #expect(log.entries == ["sender deinit", "capture deinit"])
    }

    @Test(arguments: LifetimeMode.allCases)
    func `M5 R9 an observer that waits for what a dead sender enqueued can be removed by name`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let scheduler = HeldJobs()
        let sender = lastWordSender(center)
        let token = observe(center, sender, on: .custom(scheduler))
        sender.release()
        center.removeObservers(named: .sample)
        #expect(!token.isActive)
        scheduler.run()
        #expect(log.entries == ["sender deinit", "capture deinit"])
    }

    @Test func `M5 D2 an observer that waits for what a dead sender enqueued ends when that is dropped`() {
        let center = ObserverCenter()
        let scheduler = HeldJobs()
        let sender = lastWordSender(center)
        let token = observe(center, sender, on: .custom(scheduler))
        sender.release()
        scheduler.drop()
        #expect(log.entries == ["sender deinit", "capture deinit"])
        #expect(center.core.isEmpty && !token.isActive)
    }

    @Test func `M5 D6 what a dead sender enqueued follows a switch of the target`() {
        let center = ObserverCenter()
        let (first, second) = (HeldJobs(), HeldJobs())
        let sender = lastWordSender(center)
        let token = observe(center, sender, on: .custom(first))
        sender.release()
        token.target = .custom(second)
        first.run()
        #expect(log.entries == ["sender deinit"])
        second.run()
        #expect(log.entries == ["sender deinit", "handler, object none", "capture deinit"])
        #expect(center.core.isEmpty && !token.isActive)
    }

    @Test func `M5 a handler that runs what a dead sender enqueued may stop its own observer`() {
        let center = ObserverCenter()
        let scheduler = HeldJobs()
        let token = Holder<NotificationObserver>()
        let sender = Holder(
            LoggedObject("sender", log) { sender in
                center.post(name: .sample, object: sender)
                center.post(name: .sample, object: sender)
            })
        token.object = center.observe(.sample, from: sender.object!, on: .custom(scheduler)) { [log] _ in
            log.add("handler")
            token.object?.cancel()
        }
        sender.release()
        scheduler.run()
        #expect(log.entries == ["sender deinit", "handler"])
        #expect(center.core.isEmpty)
    }

    @Test func `M5 D6 what a dead sender enqueued stays where it is when the target becomes the poster`() {
        let center = ObserverCenter()
        let scheduler = HeldJobs()
        let sender = lastWordSender(center)
        let token = observe(center, sender, on: .custom(scheduler))
        sender.release()
        token.target = .postingThread
        #expect(log.entries == ["sender deinit"])
        scheduler.run()
        #expect(log.entries == ["sender deinit", "handler, object none", "capture deinit"])
        #expect(center.core.isEmpty && !token.isActive)
    }
}
