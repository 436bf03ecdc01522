import Foundation
import Testing
import Tether

/// Senders that are values, wherever a call takes a sender `from:`.
@Suite struct ValueSenderOwnerTests {
    private final class Owner: Sendable {}

    private let log = Log<String>()

    @Test(arguments: CenterKind.allCases)
    func `M4 F1 an owner's observer of a value takes the posts of equal values alone`(
        kind: CenterKind
    ) {
        let (center, log) = (kind.makeCenter(), log)
        let owner = Holder(LoggedObject("owner", log))
        center.observe(.sample, from: ValueSender("a"), owner: owner.object!) { owner, note in
            log.add("\(owner.name) \(note.number)")
        }
        let senders: [Any?] = ["a", "b", nil, 1, ["a"].joined(), NSObject()]
        for (number, sender) in senders.enumerated() {
            center.post(.sample, from: sender, number: number)
        }
        #expect(log.entries == ["owner 0", "owner 4"])
        owner.release()
        #expect(log.entries == ["owner 0", "owner 4", "owner deinit"])
        #expect(center.audit().isEmpty)
        center.post(.sample, from: "a")
        #expect(log.entries.count == 3)
    }

    @Test(arguments: CenterKind.allCases)
    func `M5 R9 a value of nil is not any sender, and removes no observer`(kind: CenterKind) {
        let center = kind.makeCenter()
        let (owner, missing) = (Owner(), ValueSender(Int?.none))
        let tokens = [
            center.observe(.sample) { _ in },
            center.observe(.sample, from: ValueSender(7), owner: owner) { _, _ in },
        ]
        center.removeObservers(from: missing)
        center.removeObservers(named: .sample, from: missing)
        center.removeObservers(from: missing, owner: owner)
        #expect(tokens.map(\.isActive) == [true, true])
        withExtendedLifetime(owner) {}
    }

    @Test func `M5 a post of nil, as a value, would reach no observer of a value`() {
        let center = ObserverCenter()
        let token = center.observe(.sample, from: ValueSender(7)) { _ in }
        #expect(!center.hasObservers(named: .sample, from: ValueSender(Int?.none)))
        #expect(center.hasObservers(named: .sample, from: ValueSender(7)))
        withExtendedLifetime(token) {}
    }

    @Test(arguments: CenterKind.allCases)
    func `M4 R7 posts of other values do not use up a once observer of a value`(kind: CenterKind) {
        let (center, log) = (kind.makeCenter(), log)
        let token = center.observe(.sample, from: ValueSender(7), once: true) { note in
            log.add("\(note.number)")
        }
        center.post(.sample, from: 8, number: 1)
        center.post(.sample, from: 7, number: 2)
        center.post(.sample, from: 7, number: 3)
        #expect(log.entries == ["2"])
        #expect(!token.isActive)
    }

    @Test(arguments: CenterKind.allCases)
    func `M4 D1 a method is connected to the posts of a value`(kind: CenterKind) {
        let (center, log) = (kind.makeCenter(), log)
        let screen = Screen(log)
        let owner = Holder(Owner())
        center.connect(
            .sample, from: ValueSender(7), to: Screen.changed, of: screen, owner: owner.object!)
        center.post(.sample, from: 7, number: 1)
        center.post(.sample, from: 8, number: 2)
        #expect(log.entries == ["changed 1"])
        owner.release()
        center.post(.sample, from: 7, number: 3)
        #expect(log.entries == ["changed 1"])
    }

    @Test(arguments: CenterKind.allCases)
    func `M4 S1 a sequence of an owner has the notifications of a value`(kind: CenterKind) async {
        let center = kind.makeCenter()
        let owner = Holder(Owner())
        let notes = center.notifications(named: .sample, from: ValueSender(7), owner: owner.object!)
        for number in 0..<4 { center.post(.sample, from: 7 + number % 2, number: number) }
        var iterator = notes.makeAsyncIterator()
        #expect(await iterator.next()?.number == 0)
        #expect(await iterator.next()?.number == 2)
        owner.release()
        #expect(await iterator.next() == nil)
    }

    @Test func `M4 R9 observers of a value are found and removed by an equal value`() {
        let (center, owner) = (ObserverCenter(), Owner())
        center.observe(.sample, from: ValueSender(7), owner: owner) { _, _ in }
        #expect(center.hasObservers(named: .sample, from: ValueSender(7)))
        #expect(!center.hasObservers(named: .sample, from: ValueSender(8)))
        center.removeObservers(named: .sample, from: ValueSender(8))
        #expect(OwnerObservers(of: owner).count == 1)
        center.removeObservers(named: .sample, from: ValueSender(7))
        #expect(OwnerObservers(of: owner).isEmpty && center.isEmpty)
    }

    @Test func `M4 M5 an object in a value sender matches by identity, and is not retained`() {
        final class Named: Hashable, Sendable {
            static func == (one: Named, other: Named) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }
        let (center, log, owner) = (ObserverCenter(), log, Owner())
        let sender = Holder(Named())
        let probe = ObjectProbe(sender.object!)
        center.observe(.sample, from: ValueSender(sender.object!), owner: owner) { _, note in
            log.add("\(note.number)")
        }
        center.post(.sample, from: Named(), number: 1)
        center.post(.sample, from: sender.object, number: 2)
        #expect(log.entries == ["2"])
        sender.release()
        #expect(probe.isDeallocated && center.audit().isEmpty)
        withExtendedLifetime(owner) {}
    }
}
