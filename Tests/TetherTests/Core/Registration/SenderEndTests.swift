import Foundation
import Testing
import Tether

/// The end of a sender, and the posts of its `deinit`.
@Suite struct SenderEndTests {
    private let log = Log<String>()

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
        #expect(centers.allSatisfy(\.isEmpty) && !probe.hasRecord)
        #expect(tokens.allSatisfy { !$0.isActive })
    }
}
