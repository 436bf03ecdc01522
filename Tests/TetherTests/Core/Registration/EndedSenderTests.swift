import Foundation
import Testing

@testable import Tether

/// Deliveries enqueued by a sender's `deinit`.
@Suite struct EndedSenderTests: SenderEndSuite {
    let log = Log<String>()

    @Test func `M5 X3 a post in a sender's deinit has no object, and observers end after it`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let sender = Holder(
            LoggedObject("sender", log) { sender in
                center.post(name: .sample, object: sender)
                center.post(name: .sample, object: sender)
            })
        let token = observe(center, sender, on: .custom(scheduler))
        sender.release()
        #expect(log.entries == ["sender deinit"])
        #expect(center.audit().map(\.pending) == [2])
        #expect(token.isActive)
        scheduler.runAll()
        #expect(center.core.isEmpty && !token.isActive && log.entries.count == 4)
        #expect(
            log.entries == [
                "sender deinit", "handler, object none", "handler, object none", "capture deinit",
            ])
    }

    @Test func `M5 D2 an observer of a dead sender ends when the pending delivery is dropped`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let sender = lastWordSender(center)
        let token = observe(center, sender, on: .custom(scheduler))
        sender.release()
        scheduler.dropAll()
        #expect(log.entries == ["sender deinit", "capture deinit"])
        #expect(center.core.isEmpty && !token.isActive)
    }
}
