import Foundation
import Testing
import Tether

/// Posts of an object, as the sender, in its own `deinit`.
@Suite struct EndingSenderTests {
    private final class Sender: Sendable {
        let label: String
        let atDeinit: @Sendable (Sender) -> Void

        init(_ label: String = "sender", atDeinit: @escaping @Sendable (Sender) -> Void) {
            self.label = label
            self.atDeinit = atDeinit
        }

        deinit { atDeinit(self) }
    }

    private let center = ObserverCenter()
    private let log = Log<String>()

    private func record(_ who: String) -> @Sendable (Notification) -> Void {
        let log = log
        return { note in
            log.add(
                "\(who): \((note.object as? Sender)?.label ?? "no object"), \(note.userInfo?.count ?? 0)"
            )
        }
    }

    @Test func `X3 S4 an ending object is no value of a sequence`() {
        let center = center
        let sequence = center.notifications(named: .sample, making: { $0.object as? Sender })
        let optional = center.notifications(
            named: .sample, making: { Optional(Optional($0.object as? Sender)) })
        _ = Sender { center.post(name: .sample, object: $0) }
        #expect(center.audit().map(\.pending) == [0, 0])
        withExtendedLifetime((sequence, optional)) {}
    }

    @Test func `M5 O1 a new object at an ended sender's address gets no pending delivery`() {
        let (center, jobs) = (center, ManualScheduler())
        let rounds = 100
        var tokens: [NotificationObserver] = []
        for _ in 0..<rounds {
            var sender: Sender? = Sender { center.post(name: .sample, object: $0) }
            tokens.append(
                center.observe(.sample, from: sender!, on: .custom(jobs), record("pending")))
            sender = nil
            // With the Objective-C runtime one of them may get the address.
            let strangers = (0..<4).map { _ in Sender("stranger") { _ in } }
            for stranger in strangers {
                center.post(name: .sample, object: stranger)
                #expect(center.observe(.other, owner: stranger) { _, _ in }.isActive)
                let token = center.observe(.other, from: stranger) { _ in }
                #expect(token.isActive)
            }
        }
        jobs.runAll()
        #expect(log.entries.count == rounds)
        #expect(Set(log.entries) == ["pending: no object, 0"])
        withExtendedLifetime(tokens) {}
    }
}
