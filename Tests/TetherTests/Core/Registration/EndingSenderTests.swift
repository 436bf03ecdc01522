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

    @Test func `X3 an ending object is not kept for an asynchronous target`() {
        let (center, jobs) = (center, ManualScheduler())
        let tokens = [
            center.observe(.sample, on: .custom(jobs), record("later")),
            center.observe(.sample, record("now")),
        ]
        _ = Sender { center.post(name: .sample, object: $0, userInfo: [1: 1, 2: 2]) }
        #expect(log.entries == ["now: sender, 2"])
        jobs.runAll()
        #expect(log.entries.dropFirst() == ["later: no object, 2"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `M5 D9 a sender's last post, kept while muted, is delivered after its end`() {
        let center = center
        var sender: Sender? = Sender { center.post(name: .sample, object: $0) }
        let token = center.observe(.sample, from: sender!, record("muted"))
        token.mute(keepingNewest: true)
        sender = nil
        #expect(log.entries == [] && token.isActive)
        token.unmute()
        #expect(log.entries == ["muted: no object, 0"])
        #expect(!token.isActive)
    }
}
