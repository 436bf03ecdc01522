import Foundation
import Testing

@testable import Tether

/// Muting all observers of an owner.
@Suite(.ownThread) struct OwnerMutingTests {
    private final class Owner: Sendable {}

    private let center = ObserverCenter()
    private let scheduler = ManualScheduler()
    private let log = Log<String>()

    @discardableResult
    private func observe(
        _ owner: AnyObject, _ prefix: String, of name: Notification.Name = .sample,
        on target: DeliveryTarget = .postingThread, center other: ObserverCenter? = nil
    ) -> NotificationObserver {
        (other ?? center).observe(name, owner: owner, on: target) { [log] _, notification in
            log.add("\(prefix)\(notification.number)")
        }
    }

    private func mute(_ owner: AnyObject, keepingNewest: Bool = false) {
        OwnerObservers(of: owner).mute(keepingNewest: keepingNewest)
    }

    private func unmute(_ owner: AnyObject) { OwnerObservers(of: owner).unmute() }

    @Test func `D9 an owner's observers are muted while a closure runs`() throws {
        let owner = Owner()
        observe(owner, "a")
        observe(owner, "b")
        let result = OwnerObservers(of: owner).muted(keepingNewest: true) {
            center.post(.sample, numbers: 1...3)
            return log.entries
        }
        #expect(result == [] && log.entries == ["a3", "b3"])
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try OwnerObservers(of: owner).muted { throw Failure() }
        }
        center.post(.sample, number: 4)
        #expect(log.entries == ["a3", "b3", "a4", "b4"])
        withExtendedLifetime(owner) {}
    }

    @Test func `D9 all observers of an owner are muted, on all centers, and nobody else's`() {
        let (owner, other, second) = (Owner(), Owner(), ObserverCenter())
        observe(owner, "a")
        observe(owner, "b", on: .custom(scheduler))
        observe(owner, "c", center: second)
        observe(other, "d")
        mute(owner)
        for center in [center, second] { center.post(.sample, number: 1) }
        scheduler.runAll()
        #expect(log.entries == ["d1"])
        #expect(
            OwnerObservers(of: owner).audit().map { [$0.dropped, $0.muteCount] } == [
                [1, 1], [1, 1], [1, 1],
            ])
        unmute(owner)
        for center in [center, second] { center.post(.sample, number: 2) }
        scheduler.runAll()
        #expect(log.entries == ["d1", "a2", "d2", "c2", "b2"])
        withExtendedLifetime((owner, other)) {}
    }

    @Test func `R11 D9 a handler in an unmuting finishes an observer that the unmuting called`() {
        let (owner, log) = (Owner(), log)
        let first = observe(owner, "first ")
        let last = center.observe(.sample, owner: owner) { _, _ in log.add("\(first.finish())") }
        mute(owner, keepingNewest: true)
        center.post(.sample, number: 1)
        unmute(owner)
        #expect(log.entries == ["first 1", "finished"])
        #expect(!first.isActive)
        withExtendedLifetime((owner, last)) {}
    }

    @Test func `D9 an owner's mutings are counted apart from the mutings of tokens`() {
        let owner = Owner()
        let token = observe(owner, "a")
        mute(owner)
        mute(owner)
        token.mute()
        #expect(center.audit().map(\.muteCount) == [3])
        unmute(owner)
        unmute(owner)
        #expect(token.isMuted)
        mute(owner)
        token.unmute()
        #expect(token.isMuted)
        center.post(.sample, number: 1)
        unmute(owner)
        #expect(!token.isMuted)
        center.post(.sample, number: 2)
        #expect(log.entries == ["a2"])
        withExtendedLifetime(owner) {}
    }

    @Test func `D9 the kept notifications of an owner's observers are delivered in posting order`()
    {
        let owner = Owner()
        observe(owner, "a")
        observe(owner, "b", of: .other)
        observe(owner, "c", of: .third)
        mute(owner, keepingNewest: true)
        center.post(.other, number: 1)
        center.post(.third, number: 2)
        center.post(.sample, number: 3)
        unmute(owner)
        #expect(log.entries == ["b1", "c2", "a3"])
        withExtendedLifetime(owner) {}
    }

    @Test func `D9 a muting by a handler of the same unmuting holds back only later posts`() {
        let owner = Owner()
        center.observe(.sample, owner: owner) { [log] owner, notification in
            log.add("a\(notification.number)")
            OwnerObservers(of: owner).mute()
        }
        observe(owner, "b")
        mute(owner, keepingNewest: true)
        center.post(.sample, number: 1)
        unmute(owner)
        #expect(log.entries == ["a1", "b1"])
        center.post(.sample, number: 2)
        #expect(log.entries == ["a1", "b1"])
        withExtendedLifetime(owner) {}
    }

    @Test func `D9 M9 muting an owner without observers leaves nothing`() {
        let owner = Owner()
        let probe = ObjectProbe(owner)
        mute(owner)
        #expect(!probe.hasRecord)
        let token = observe(owner, "a")
        mute(owner)
        token.cancel()
        #expect(!probe.hasRecord)
        unmute(owner)
    }
}
