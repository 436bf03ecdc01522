import Foundation
import Testing
import Tether

/// Owners, on Tether's own center and over Foundation's.
@Suite(.ownThread) struct OwnerTests {
    private let log = Log<String>()

    @Test(arguments: CenterKind.allCases)
    func `F1 O2 O3 an owner is not retained, and its observers end before its deinit`(
        kind: CenterKind
    ) {
        let (log, center) = (log, kind.makeCenter())
        let tokens = Box<[NotificationObserver]>([])
        do {
            let owner = LoggedObject("owner", log) { _ in
                center.post(.sample, number: 2)
                log.add(
                    "active: \(tokens.value.count { $0.isActive }), rows: \(center.audit().count)")
            }
            let captured = LoggedObject("captured", log)
            tokens.set([
                center.observe(.sample, owner: owner) { owner, note in
                    captured.touch()
                    log.add("\(owner.name) \(note.number)")
                },
                center.observe(nil, owner: owner) { _, _ in log.add("not handed") },
            ])
            center.post(.sample, number: 1)
        }
        center.post(.sample, number: 3)
        #expect(log.entries.prefix(2).sorted() == ["not handed", "owner 1"])
        #expect(
            log.entries.dropFirst(2) == ["captured deinit", "owner deinit", "active: 0, rows: 0"])
    }

    @Test func `F1 O6 O7 an owner's observers on two kinds of center are listed, ended together`() {
        let (log, own, foundation) = (log, ObserverCenter(), NotificationCenter())
        let owner = Holder(Plain())
        let first = own.observe(.sample, owner: owner.object!) { _, _ in log.add("own") }
        let second = foundation.observe(.sample, owner: owner.object!) { _, _ in
            log.add("foundation")
        }
        let third = foundation.observe(.sample, owner: owner.object!) { _, _ in log.add("third") }
        #expect(Array(OwnerObservers(of: owner.object!)) == [first, second, third])
        #expect(OwnerObservers(of: owner.object!).audit().count == 3)
        third.cancel()
        own.post(.sample)
        foundation.post(name: .sample, object: nil)
        #expect(log.entries == ["own", "foundation"])
        OwnerObservers(of: owner.object!).cancel()
        #expect([first, second, third].allSatisfy { !$0.isActive })
        owner.release()
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 O9 a handler with its owner's last reference releases it after the return`(
        kind: CenterKind
    ) {
        let (log, center) = (log, kind.makeCenter())
        let owner = Box(optional: LoggedObject("owner", log) { _ in center.post(.other) })
        let other = center.observe(.other) { _ in log.add("posted in deinit") }
        center.observe(.sample, owner: owner.value!) { _, _ in
            owner.drop()
            log.add("handler returns")
        }
        center.post(.sample)
        #expect(log.entries == ["handler returns", "owner deinit", "posted in deinit"])
        withExtendedLifetime(other) {}
    }
}
