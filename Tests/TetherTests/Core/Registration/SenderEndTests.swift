import Foundation
import Testing

@testable import Tether

/// The end of a sender, and the posts of its `deinit`.
@Suite struct SenderEndTests: SenderEndSuite {
    let log = Log<String>()

    @Test func `M5 every observer of a dying sender is reached, in order, on every center`() {
        let centers = (0..<3).map { _ in ObserverCenter() }
        let sender = Holder(
            LoggedObject("sender", log) { sender in
                for center in centers { center.post(name: .sample, object: sender) }
            })
        let probe = ObjectProbe(sender.object!)
        var tokens: [NotificationObserver] = []
        for (index, center) in centers.enumerated() {
            tokens.append(
                center.observe(.sample, from: sender.object!) { [log] _ in log.add("\(index) named")
                })
            tokens.append(
                center.observe(nil, from: sender.object!) { [log] _ in log.add("\(index) any") })
        }
        sender.release()
        #expect(
            log.entries == [
                "sender deinit", "0 named", "0 any", "1 named", "1 any", "2 named", "2 any",
            ])
        #expect(centers.allSatisfy(\.core.isEmpty) && !probe.hasRecord)
        #expect(tokens.allSatisfy { !$0.isActive })
    }

    @Test func `M5 the end of a sender ends its observers on every center, and no others`() {
        let centers = (0..<3).map { _ in ObserverCenter() }
        let (sender, other) = (Holder(LoggedObject("sender", log)), LoggedObject("other", log))
        var (ending, staying): ([NotificationObserver], [NotificationObserver]) = ([], [])
        for center in centers {
            for name in [Notification.Name.sample, .other, nil] {
                ending.append(center.observe(name, from: sender.object!) { _ in })
                staying.append(center.observe(name, from: other) { _ in })
                staying.append(center.observe(name) { _ in })
            }
        }
        sender.release()
        #expect(ending.allSatisfy { !$0.isActive } && centers.allSatisfy { $0.core.count == 6 })
        #expect(staying.allSatisfy { $0.isActive })
        staying = []
        #expect(centers.allSatisfy { $0.core.isEmpty })
        withExtendedLifetime(other) {}
    }

    @Test func `M5 O4 an owner that is also a sender reaches others' observers in its deinit`() {
        let center = ObserverCenter()
        let sender = lastWordSender(center)
        // Reached first, with a deallocated owner.
        center.observe(.sample, owner: sender.object!) { [log] _, _ in log.add("own") }
        let token = center.observe(.sample, from: sender.object!) { [log] _ in log.add("stranger's")
        }
        sender.release()
        #expect(log.entries == ["sender deinit", "stranger's"])
        #expect(center.core.isEmpty && !token.isActive)
    }
}
