import Foundation
import Testing

@testable import Tether

/// Owners, on Tether's own center and over Foundation's.
@Suite(.ownThread) struct OwnersOverCentersTests {
    private let log = Log<String>()

    @Test(arguments: CenterKind.allCases)
    func `F1 O1 any class instance is an owner`(kind: CenterKind) {
        let center = kind.makeCenter()
        let owners: [AnyObject] = [
            Plain(), Derived(log), Pair(first: 1, second: "one"), TaggedPair(first: "one", second: 1), CountingActor(),
            Mutable(), Buffer.create(minimumCapacity: 16) { _ in 7 }, Model(), NSObject(), NSMutableArray(),
            OperationQueue(), NotificationCenter(), ObserverCenter(),
        ]
        for owner in owners { expectOwner(owner, on: center) }
    }

    private func expectOwner(_ object: AnyObject, on center: any PostingCenter) {
        let calls = Log<Int>()
        center.observe(.sample, owner: object) { owner, note in calls.add(note.number) }
        center.post(.sample, number: 1)
        #expect(calls.entries == [1], "\(type(of: object))")
        #expect(OwnerObservers(of: object).count == 1)
        OwnerObservers(of: object).cancel()
        center.post(.sample, number: 2)
        #expect(calls.entries == [1])
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 O2 O3 O4 the owner is not kept, and its observers end before the first line of its deinit`(
        kind: CenterKind
    ) {
        let (log, center) = (log, kind.makeCenter())
        let tokens = Box<[NotificationObserver]>([])
        do {
            let owner = LoggedObject("owner", log) { _ in
                center.post(.sample, number: 2)
                log.add("active: \(tokens.value.count { $0.isActive }), rows: \(center.audit().count)")
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
        #expect(log.entries.dropFirst(2) == ["captured deinit", "owner deinit", "active: 0, rows: 0"])
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 O3 observers that an owner has from its init end with it`(kind: CenterKind) {
        final class Sidebar {
            let log: Log<String>

            init(_ center: any PostingCenter, _ log: Log<String>) {
                self.log = log
                center.connect(.sample, to: Sidebar.changed, of: self)
                center.connect(.other, to: Sidebar.closed, of: self)
            }

            func changed(_ note: Notification) { log.add("changed \(note.number)") }
            func closed() { log.add("closed") }

            deinit { log.add("deinit") }
        }
        let center = kind.makeCenter()
        let sidebar = Holder(Sidebar(center, log))
        center.post(.sample, number: 1)
        center.post(.other)
        sidebar.release()
        center.post(.sample, number: 2)
        center.post(.other)
        #expect(log.entries == ["changed 1", "closed", "deinit"])
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 O4 a pending delivery does not run after its owner's end`(kind: CenterKind) {
        let (log, center, jobs) = (log, kind.makeCenter(), ManualScheduler())
        let owner = Holder(LoggedObject("owner", log))
        center.observe(.sample, owner: owner.object!, on: .custom(jobs)) { _, _ in log.add("handler") }
        center.post(.sample)
        #expect(jobs.waiting == 1)
        owner.release()
        jobs.runAll()
        #expect(log.entries == ["owner deinit"])
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 O4 no handler runs in or after the deinit of an owner that goes while others post`(kind: CenterKind) throws
    {
        struct Round: Sendable {
            let center: any PostingCenter
            let owner: Box<Ending?>
            let hasGone: Flag
            let late: Counter
        }
        try race(
            rounds: 500,
            setUp: { _ in
                let (center, hasGone, late) = (kind.makeCenter(), Flag(), Counter())
                let owner = Ending { hasGone.raise() }
                center.observe(.sample, owner: owner) { owner, _ in
                    if hasGone.isRaised { late.add() }
                    owner.touch()
                    if hasGone.isRaised { late.add() }
                }
                return Round(center: center, owner: Box(optional: owner), hasGone: hasGone, late: late)
            },
            { for _ in 0..<5 { $0.center.post(.sample) } },
            { $0.owner.drop() },
            check: { round in
                try require(round.hasGone.isRaised, "the owner has not gone")
                try require(round.late.count == 0, "a handler ran late")
                try require(round.center.audit().isEmpty, "an observer is left")
            })
    }

    @Test func `F1 O6 O7 an owner's observers on both kinds of center are listed and ended together`() {
        let (log, own, foundation) = (log, ObserverCenter(), NotificationCenter())
        let owner = Holder(Plain())
        let first = own.observe(.sample, owner: owner.object!) { _, _ in log.add("own") }
        let second = foundation.observe(.sample, owner: owner.object!) { _, _ in log.add("foundation") }
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
    func `F1 O8 an owner that is being deinitialised attaches nothing`(kind: CenterKind) {
        let (log, center) = (log, kind.makeCenter())
        let isActive = Log<Bool>()
        do {
            let owner = LoggedObject("owner", log) { owner in
                isActive.add(center.observe(.sample, owner: owner) { _, _ in log.add("handler") }.isActive)
                center.post(.sample)
            }
            withExtendedLifetime(owner) {}
        }
        #expect(isActive.entries == [false])
        #expect(log.entries == ["owner deinit"])
        #expect(center.audit().isEmpty)
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 O9 a handler that holds the last reference to its owner lets it go after it returns`(kind: CenterKind) {
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

    @Test(arguments: CenterKind.allCases)
    func `F1 O11 a token that is kept outlives the owner, inactive, and keeps nothing`(kind: CenterKind) {
        let (log, center) = (log, kind.makeCenter())
        let owner = Holder(Plain())
        let token = {
            let captured = LoggedObject("captured", log)
            return center.observe(.sample, owner: owner.object!) { _, _ in captured.touch() }
        }()
        owner.release()
        #expect(!token.isActive)
        #expect(log.entries == ["captured deinit"])
        token.cancel()
        center.post(.sample)
        #expect(log.entries == ["captured deinit"])
    }
}
