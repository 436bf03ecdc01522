import Foundation
import Synchronization
import Testing

@testable import Tether

@Suite struct OwnerSweepTests {
    private let log = Log<String>()

    @Test func `O10 observers of dead owners are gone after purge`() {
        let center = LifetimeMode.sweep.makeCenter()
        let owners = (0..<40).map { _ in Holder(Plain()) }
        let capture = Holder(LoggedObject("capture", log))
        var tokens: [NotificationObserver] = []
        for owner in owners {
            tokens.append(
                center.observe(.sample, owner: owner.object!) { [log, capture = capture.object!] _, _ in
                    capture.touch()
                    log.add("handler")
                })
        }
        capture.release()
        for owner in owners { owner.release() }
        LifetimeMode.sweep.expectAfterEnd(!tokens.contains { $0.isActive } && !log.entries.isEmpty)
        #expect(log.entries == ["capture deinit"])
        #expect(center.core.isEmpty)
    }

    @Test func `O10 the sweep alone collects, amortised over attachments`() {
        let center = LifetimeMode.sweep.makeCenter()
        let calls = Atomic<Int>(0)
        let living = (0..<100).map { _ in Plain() }
        for owner in living { center.observe(.other, owner: owner) { _, _ in } }
        for _ in 0..<10_000 {
            center.observe(.sample, owner: Plain()) { _, _ in calls.wrappingAdd(1, ordering: .relaxed) }
        }
        // A sweep is due after as many attachments as there are records for it, and no later.
        #expect(center.core.count < 2000)
        center.post(name: .sample, object: nil)
        #expect(calls.load(ordering: .relaxed) == 0)
        for owner in living { #expect(OwnerObservers(of: owner).count == 1) }
        withExtendedLifetime(living) {}
    }

    @Test func `O10 the sweep alone collects observers of dead senders`() {
        let center = LifetimeMode.sweep.makeCenter()
        var tokens: [NotificationObserver] = []
        for _ in 0..<10_000 { tokens.append(center.observe(.sample, from: Plain()) { _ in }) }
        #expect(tokens.count(where: \.isActive) < 2000)
    }

    @Test func `O10 R6 objects that a sweep releases may observe, post and sweep`() {
        let center = LifetimeMode.sweep.makeCenter()
        let owner = Holder(Plain())
        let other = LoggedObject("other", log)
        do {
            let capture = LoggedObject("capture", log) { [log] _ in
                center.observe(.other, owner: other) { _, _ in log.add("handler") }
                OwnerLifetime.purge()
                center.post(name: .other, object: nil)
            }
            center.observe(.sample, owner: owner.object!) { _, _ in capture.touch() }
        }
        owner.release()
        LifetimeMode.sweep.expectAfterEnd(log.entries.count == 2)
        #expect(log.entries == ["capture deinit", "handler"])
        #expect(center.core.count == 1)
        withExtendedLifetime(other) {}
    }
}
