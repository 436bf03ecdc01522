import Foundation
import Testing

@testable import Tether

@Suite struct OwnerAttachmentTests {
    private let log = Log<String>()

    // MARK: O2

    @Test(arguments: LifetimeMode.allCases)
    func `O2 M5 a sender is not retained, nor is one that owns its own observer`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let sender = Holder(LoggedObject("sender", log))
        let token = center.observe(.sample, from: sender.object!) { _ in }
        center.observe(.sample, from: sender.object!, owner: sender.object!) { _, _ in }
        center.post(name: .sample, object: sender.object!)
        #expect(isKnownUniquelyReferenced(&sender.object))
        sender.release()
        #expect(log.entries == ["sender deinit"])
        mode.expectAfterEnd(center.core.isEmpty)
        withExtendedLifetime(token) {}
    }

    // MARK: O6

    @Test(arguments: LifetimeMode.allCases)
    func `O6 of an owner's many observers those that end leave the rest, in order`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let owner = LoggedObject("owner", log)
        let tokens = (0..<100).map { _ in center.observe(.sample, owner: owner) { _, _ in } }
        var left = Array(tokens.indices)
        var generator = SplitMix64(seed: 6)
        while !left.isEmpty {
            tokens[left.remove(at: Int.random(in: left.indices, using: &generator))].cancel()
            #expect(Array(OwnerObservers(of: owner)) == left.map { tokens[$0] })
        }
        #expect(center.core.isEmpty)
        withExtendedLifetime(owner) {}
    }

    @Test func `O6 O10 an owner known to the sweep and to the hook ends as it happens on both`() {
        let (swept, exact) = (LifetimeMode.sweep.makeCenter(), LifetimeMode.hook.makeCenter())
        let owner = Holder(LoggedObject("owner", log))
        swept.observe(.sample, owner: owner.object!) { _, _ in }
        exact.observe(.sample, owner: owner.object!) { _, _ in }
        owner.release()
        #expect(swept.core.isEmpty && exact.core.isEmpty)
    }

    // MARK: O7

    @Test(arguments: LifetimeMode.allCases)
    func `O7 an owner's observers are listed in order of attachment, and ended together`(mode: LifetimeMode) {
        let (first, second) = (mode.makeCenter(), mode.makeCenter())
        let (owner, stranger) = (LoggedObject("owner", log), LoggedObject("stranger", log))
        let trace = Trace(owner)
        #expect(OwnerObservers(of: owner).isEmpty)
        let one = first.observe(.sample, owner: owner) { [log] _, _ in log.add("one") }
        let two = second.observe(.sample, owner: owner) { [log] _, _ in log.add("two") }
        let three = first.observe(.other, owner: owner) { [log] _, _ in log.add("three") }
        let other = first.observe(.sample, owner: stranger) { [log] _, _ in log.add("other") }
        #expect(Array(OwnerObservers(of: owner)) == [one, two, three])
        two.cancel()
        #expect(Array(OwnerObservers(of: owner)) == [one, three])
        OwnerObservers(of: owner).cancel()
        #expect(OwnerObservers(of: owner).isEmpty)
        #expect([one, two, three, other].map(\.isActive) == [false, false, false, true])
        #expect(!trace.hasRecord)
        first.post(name: .sample, object: nil)
        #expect(log.entries == ["other"])
        #expect(second.core.isEmpty)
        withExtendedLifetime((owner, stranger)) {}
    }

    // MARK: O11

    @Test(arguments: LifetimeMode.allCases)
    func `O11 an observer lives without its token, which the owner's side holds`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let owner = Holder(LoggedObject("owner", log))
        weak let token = center.observe(.sample, owner: owner.object!) { [log] _, _ in log.add("handler") }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["handler"])
        #expect(token != nil)
        owner.release()
        mode.expectAfterEnd(token == nil)
    }

    @Test(arguments: LifetimeMode.allCases)
    func `O11 R3 a token stopped before its owner ends leaves nothing of it behind`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let owner = Holder(LoggedObject("owner", log))
        let trace = Trace(owner.object!)
        let token = center.observe(.sample, owner: owner.object!) { _, _ in }
        #expect(trace.hasRecord)
        token.cancel()
        #expect(!trace.hasRecord && center.core.isEmpty)
        owner.release()
        token.cancel()
        #expect(log.entries == ["owner deinit"])
    }
}
