import Foundation
import Testing

@testable import Tether

@Suite struct OwnerAttachmentTests {
    private let log = Log<String>()

    // MARK: O2

    @Test(arguments: LifetimeMode.allCases)
    func `O2 attaching, posting and listing retain no owner`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let owner = Holder(LoggedObject("owner", log))
        #expect(isKnownUniquelyReferenced(&owner.object))
        for _ in 0..<10 { center.observe(.sample, owner: owner.object!) { _, _ in } }
        center.observe(.sample, owner: owner.object!, on: .custom(HeldJobs())) { _, _ in }
        #expect(isKnownUniquelyReferenced(&owner.object))
        center.post(name: .sample, object: nil)
        _ = center.audit()
        _ = OwnerObservers(of: owner.object!)
        #expect(isKnownUniquelyReferenced(&owner.object))
        owner.release()
        #expect(log.entries == ["owner deinit"])
        mode.expectAfterEnd(center.core.isEmpty)
    }

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

    @Test(arguments: LifetimeMode.allCases)
    func `O2 an owner is held while its handler runs`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let owner = Holder(LoggedObject("owner", log))
        center.observe(.sample, owner: owner.object!) { [log] _, _ in
            #expect(!isKnownUniquelyReferenced(&owner.object))
            log.add("handler")
        }
        center.post(name: .sample, object: nil)
        #expect(isKnownUniquelyReferenced(&owner.object))
        #expect(log.entries == ["handler"])
    }

    @Test(arguments: LifetimeMode.allCases)
    func `O2 a pending notification keeps its own object, and the audit shows it`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let scheduler = HeldJobs()
        // The owner is the object of its own notification: what is pending keeps it, the observer does not.
        let owner = Holder(LoggedObject("owner", log))
        center.observe(.sample, owner: owner.object!, on: .custom(scheduler)) { [log] _, note in
            log.add("handler \((note.object as? LoggedObject)?.name ?? "nobody")")
        }
        center.post(name: .sample, object: owner.object!)
        owner.release()
        #expect(log.entries == [])
        #expect(center.audit().map(\.pending) == [1])
        scheduler.run()
        #expect(log.entries == ["handler owner", "owner deinit"])
        mode.expectAfterEnd(center.core.isEmpty)
    }

    // MARK: O6

    @Test(arguments: LifetimeMode.allCases)
    func `O6 an owner has observers on several centers, and ending one leaves the rest`(mode: LifetimeMode) {
        let centers = (0..<3).map { _ in mode.makeCenter() }
        let owner = Holder(LoggedObject("owner", log))
        var tokens: [NotificationObserver] = []
        for index in 0..<6 {
            tokens.append(
                centers[index / 2].observe(.sample, owner: owner.object!) { [log] _, _ in log.add("\(index)") })
        }
        tokens[2].cancel()
        for center in centers { center.post(name: .sample, object: nil) }
        #expect(log.entries == ["0", "1", "3", "4", "5"])
        #expect(centers.map(\.core.count) == [2, 1, 2])
        #expect(tokens.map(\.isActive) == [true, true, false, true, true, true])
        #expect(Array(OwnerObservers(of: owner.object!)) == tokens.filter(\.isActive))
        owner.release()
        for center in centers { center.post(name: .sample, object: nil) }
        #expect(log.entries == ["0", "1", "3", "4", "5", "owner deinit"])
        mode.expectAfterEnd(centers.allSatisfy(\.core.isEmpty))
        #expect(tokens.allSatisfy { !$0.isActive })
    }

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

    @Test func `O3 O5 an owner whose observers were stopped ends those that are added again`() {
        let (center, owner) = (ObserverCenter(), Holder(Plain()))
        for _ in 0..<3 { center.observe(.sample, owner: owner.object!) { _, _ in }.cancel() }
        let token = center.observe(.sample, owner: owner.object!) { _, _ in }
        #expect(token.isActive)
        owner.release()
        #expect(!token.isActive && center.core.isEmpty)
    }

    @Test func `O6 O10 an owner known to the sweep and to the hook ends as it happens on both`() {
        let (swept, exact) = (LifetimeMode.sweep.makeCenter(), LifetimeMode.hook.makeCenter())
        let owner = Holder(LoggedObject("owner", log))
        swept.observe(.sample, owner: owner.object!) { _, _ in }
        exact.observe(.sample, owner: owner.object!) { _, _ in }
        owner.release()
        #expect(swept.core.isEmpty && exact.core.isEmpty)
    }

    @Test(arguments: LifetimeMode.allCases)
    func `O6 R10 a center that goes ends an owner's observers there only`(mode: LifetimeMode) {
        let (kept, gone) = (mode.makeCenter(), Holder(mode.makeCenter()))
        let owner = LoggedObject("owner", log)
        let trace = Trace(owner)
        let staying = kept.observe(.sample, owner: owner) { _, _ in }
        let going = gone.object!.observe(.sample, owner: owner) { _, _ in }
        gone.release()
        #expect(staying.isActive && !going.isActive)
        #expect(Array(OwnerObservers(of: owner)) == [staying])
        staying.cancel()
        #expect(!trace.hasRecord)
        withExtendedLifetime(owner) {}
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

    @Test(arguments: LifetimeMode.allCases)
    func `O7 L1 an owner can be audited over all its centers`(mode: LifetimeMode) {
        let (first, second) = (mode.makeCenter(), mode.makeCenter())
        let owner = LoggedObject("owner", log)
        let line: UInt = #line + 1
        first.observe(.sample, owner: owner) { _, _ in }
        second.observe(.other, from: owner, owner: owner, once: true) { _, _ in }
        let audit = OwnerObservers(of: owner).audit()
        #expect(audit.map(\.name) == [.sample, .other])
        #expect(audit.map(\.line) == [Int(line), Int(line) + 1])
        #expect(audit.allSatisfy { $0.file == "TetherTests/OwnerAttachmentTests.swift" })
        #expect(audit.allSatisfy { $0.owner?.hasPrefix("LoggedObject 0x") == true })
        #expect(audit.map { $0.sender?.hasPrefix("LoggedObject 0x") ?? false } == [false, true])
        #expect(audit.map(\.isOnce) == [false, true])
        OwnerObservers(of: owner).cancel()
        #expect(OwnerObservers(of: owner).audit().isEmpty)
        withExtendedLifetime(owner) {}
    }

    // MARK: O11

    @Test(arguments: LifetimeMode.allCases)
    func `O11 a kept token outlives its owner, inactive, its captures released`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let owner = Holder(LoggedObject("owner", log))
        let token: NotificationObserver
        do {
            let capture = LoggedObject("capture", log)
            token = center.observe(.sample, owner: owner.object!) { _, _ in capture.touch() }
        }
        owner.release()
        mode.expectAfterEnd(log.entries.contains("capture deinit") && !token.isActive && center.core.isEmpty)
        #expect(Set(log.entries) == ["capture deinit", "owner deinit"])
        token.cancel()
        token.target = .main
        #expect(!token.isActive)
    }

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
