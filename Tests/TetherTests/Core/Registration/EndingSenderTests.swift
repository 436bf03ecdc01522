import Foundation
import Testing
import Tether

/// Posts that an object makes for itself in its own `deinit`.
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
            log.add("\(who): \((note.object as? Sender)?.label ?? "no object"), \(note.userInfo?.count ?? 0)")
        }
    }

    @Test func `X3 observers on the poster get the object as it is`() {
        let center = center
        let tokens = [center.observe(.sample, record("any")), center.observe(nil, record("wildcard"))]
        _ = Sender { center.post(name: .sample, object: $0, userInfo: [1: 1]) }
        #expect(log.entries == ["any: sender, 1", "wildcard: sender, 1"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `X3 asynchronous targets get no object`() {
        let (center, jobs) = (center, HeldJobs())
        let tokens = [
            center.observe(.sample, on: .custom(jobs), record("later")), center.observe(.sample, record("now")),
        ]
        _ = Sender { center.post(name: .sample, object: $0, userInfo: [1: 1, 2: 2]) }
        #expect(log.entries == ["now: sender, 2"])
        jobs.run()
        #expect(log.entries.dropFirst() == ["later: no object, 2"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `X3 M5 a synchronous observer of that very sender gets it, and then has ended`() {
        let center = center
        var sender: Sender? = Sender { center.post(name: .sample, object: $0) }
        let token = center.observe(.sample, from: sender!, record("now"))
        sender = nil
        #expect(log.entries == ["now: sender, 0"])
        #expect(!token.isActive)
    }

    @Test func `X3 M5 what is enqueued for an observer of that very sender is delivered, and then it has ended`() {
        let (center, jobs) = (center, HeldJobs())
        var sender: Sender? = Sender { center.post(name: .sample, object: $0) }
        let token = center.observe(.sample, from: sender!, on: .custom(jobs), record("later"))
        sender = nil
        jobs.run()
        #expect(log.entries == ["later: no object, 0"])
        #expect(!token.isActive)
    }

    @Test func `X3 ready-made notifications and those that the center makes are treated alike`() {
        let (center, jobs) = (center, HeldJobs())
        let token = center.observe(.sample, on: .custom(jobs), record("later"))
        _ = Sender { center.post(name: .sample, object: $0) }
        _ = Sender { center.post(Notification(name: .sample, object: $0)) }
        _ = Sender { center.post(name: .sample, object: $0 as Sender?) }
        jobs.run()
        #expect(log.entries == Array(repeating: "later: no object, 0", count: 3))
        withExtendedLifetime(token) {}
    }

    @Test func `X3 an object that lives is kept for later as it is`() {
        let (center, jobs) = (center, HeldJobs())
        let token = center.observe(.sample, on: .custom(jobs), record("later"))
        do {
            let sender = Sender("living") { _ in }
            center.post(name: .sample, object: sender)
        }
        jobs.run()
        #expect(log.entries == ["later: living, 0"])
        withExtendedLifetime(token) {}
    }

    @Test func `X3 a switch to a target during the post does not keep the object`() {
        let (center, jobs, token) = (center, HeldJobs(), SharedHolder<NotificationObserver>())
        let switching = center.observe(.sample) { _ in token.value?.target = .custom(jobs) }
        token.set(center.observe(.sample, record("switched")))
        _ = Sender { center.post(name: .sample, object: $0) }
        #expect(log.entries == [])
        jobs.run()
        #expect(log.entries == ["switched: no object, 0"])
        withExtendedLifetime(switching) { token.drop() }
    }

    @Test func `X3 an object in an optional that was posted as any is not kept either`() {
        let (center, jobs) = (center, HeldJobs())
        let token = center.observe(.sample, on: .custom(jobs), record("later"))
        _ = Sender { sender in
            let nested: Sender?? = .some(.some(sender))
            center.post(name: .sample, object: nested as Any)
        }
        jobs.run()
        #expect(log.entries == ["later: no object, 0"])
        withExtendedLifetime(token) {}
    }
}
