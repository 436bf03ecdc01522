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
            OwnerObservers(of: owner).audit().map { [$0.dropped, $0.muteCount] } == [[1, 1], [1, 1], [1, 1]])
        unmute(owner)
        for center in [center, second] { center.post(.sample, number: 2) }
        scheduler.runAll()
        #expect(log.entries == ["d1", "a2", "d2", "c2", "b2"])
        withExtendedLifetime((owner, other)) {}
    }

    @Test func `D9 D7 no target waits for its drain while a handler runs what was kept on the poster`() {
        let owner = Owner()
        center.observe(.sample, owner: owner) { [log, scheduler] _, _ in
            log.add("\(scheduler.waiting) waiting")
        }
        observe(owner, "b", on: .custom(scheduler))
        mute(owner, keepingNewest: true)
        center.post(.sample, number: 1)
        unmute(owner)
        #expect(log.entries == ["1 waiting"])
        scheduler.runAll()
        #expect(log.entries == ["1 waiting", "b1"])
        withExtendedLifetime(owner) {}
    }

    @Test func `D9 an owner's mutings are counted, apart from those of its tokens`() {
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

    @Test func `D9 an observer that is attached while others of its owner are muted is not muted`() {
        let owner = Owner()
        let first = observe(owner, "a")
        mute(owner, keepingNewest: true)
        mute(owner)
        let second = observe(owner, "b")
        #expect(first.isMuted && !second.isMuted)
        center.post(.sample, numbers: 1...2)
        unmute(owner)
        #expect(log.entries == ["b1", "b2"])
        unmute(owner)
        #expect(log.entries == ["b1", "b2", "a2"])
        center.post(.sample, number: 3)
        #expect(log.entries == ["b1", "b2", "a2", "a3", "b3"])
        withExtendedLifetime(owner) {}
    }

    @Test func `D9 unmuting an owner leaves alone observers that only their tokens have muted`() {
        let owner = Owner()
        let token = observe(owner, "a")
        token.mute()
        unmute(owner)
        #expect(token.isMuted)
        token.unmute()
        unmute(owner)
        center.post(.sample, number: 1)
        #expect(log.entries == ["a1"])
        withExtendedLifetime(owner) {}
    }

    @Test func `D9 D4 so it is on an asynchronous target, in one job`() {
        let owner = Owner()
        for prefix in ["a", "b", "c"] { observe(owner, prefix, of: .init(prefix), on: .custom(scheduler)) }
        mute(owner, keepingNewest: true)
        for prefix in ["c", "a", "b", "a"] { center.post(Notification.Name(prefix), number: 1) }
        unmute(owner)
        #expect(scheduler.scheduled == 1)
        scheduler.runAll()
        #expect(log.entries == ["c1", "b1", "a1"])
        withExtendedLifetime(owner) {}
    }

    @Test func `D9 R5 an earlier observer's kept delivery may stop a later one`() {
        let (owner, log, box) = (Owner(), log, Box<NotificationObserver?>(nil))
        center.observe(.sample, owner: owner) { _, _ in
            log.add("stops")
            box.value?.cancel()
        }
        box.set(observe(owner, "a"))
        mute(owner, keepingNewest: true)
        center.post(.sample, number: 1)
        unmute(owner)
        #expect(log.entries == ["stops"])
        box.set(nil)
        withExtendedLifetime(owner) {}
    }

    @Test func `D9 O5 M9 an owner that ends muted leaves nothing`() {
        let owner = SharedHolder(Owner())
        let trace = Trace(owner.value!)
        observe(owner.value!, "a")
        mute(owner.value!)
        owner.drop()
        #expect(!trace.hasRecord)
        #expect(center.core.isEmpty)
    }

    @Test func `D9 M9 muting an owner without observers leaves nothing`() {
        let owner = Owner()
        let trace = Trace(owner)
        mute(owner)
        #expect(!trace.hasRecord)
        let token = observe(owner, "a")
        mute(owner)
        token.cancel()
        #expect(!trace.hasRecord)
        unmute(owner)
    }

    @Test func `D9 O8 in the owner's deinit muting and unmuting do nothing`() {
        let log = log
        final class Ended: Sendable {
            let log: Log<String>
            init(_ log: Log<String>) { self.log = log }
            deinit {
                OwnerObservers(of: self).unmute()
                OwnerObservers(of: self).mute()
                OwnerObservers(of: self).unmute()
                log.add("deinit")
            }
        }
        let owner = SharedHolder(Ended(log))
        let trace = Trace(owner.value!)
        mute(owner.value!)
        owner.drop()
        #expect(log.entries == ["deinit"])
        #expect(!trace.hasRecord)
    }

    @Test func `D9 O10 a muted owner whose end is not seen is collected by the sweep`() {
        let swept = ObserverCenter(usesExactLifetimes: false)
        let owner = SharedHolder(Owner())
        let token = observe(owner.value!, "a", center: swept)
        mute(owner.value!, keepingNewest: true)
        swept.post(.sample, number: 1)
        let trace = Trace(owner.value!)
        owner.drop()
        OwnerLifetime.purge()
        #expect(!token.isActive && !trace.hasRecord)
        #expect(swept.core.isEmpty)
        #expect(log.entries == [])
    }
}
