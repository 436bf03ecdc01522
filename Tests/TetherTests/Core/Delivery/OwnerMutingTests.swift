import Foundation
import Testing
import Tether

/// Muting all observers of an owner.
@Suite(.ownThread) struct OwnerMutingTests {
    private final class Owner: Sendable {}

    private let center = ObserverCenter()
    private let log = Log<String>()

    @discardableResult
    private func observe(_ owner: AnyObject, _ prefix: String) -> NotificationObserver {
        center.observe(.sample, owner: owner) { [log] _, notification in
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
