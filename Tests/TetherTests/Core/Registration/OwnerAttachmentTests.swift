import Foundation
import Testing
import Tether

@Suite struct OwnerAttachmentTests {
    private let log = Log<String>()

    @Test func `O6 observers of an owner that end leave the others in order`() {
        let center = ObserverCenter()
        let owner = LoggedObject("owner", log)
        let tokens = (0..<100).map { _ in center.observe(.sample, owner: owner) { _, _ in } }
        var left = Array(tokens.indices)
        var generator = SplitMix64(seed: 6)
        while !left.isEmpty {
            tokens[left.remove(at: Int.random(in: left.indices, using: &generator))].cancel()
            #expect(Array(OwnerObservers(of: owner)) == left.map { tokens[$0] })
        }
        #expect(center.isEmpty)
        withExtendedLifetime(owner) {}
    }

    @Test func `O11 an observer lives without its token, which the owner's side holds`() {
        let center = ObserverCenter()
        let owner = Holder(LoggedObject("owner", log))
        weak let token = center.observe(.sample, owner: owner.object!) { [log] _, _ in
            log.add("handler")
        }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["handler"])
        #expect(token != nil)
        owner.release()
        #expect(token == nil)
    }

    @Test func `O11 R3 a token cancelled before its owner's end leaves nothing of the owner`() {
        let center = ObserverCenter()
        let owner = Holder(LoggedObject("owner", log))
        let probe = ObjectProbe(owner.object!)
        let token = center.observe(.sample, owner: owner.object!) { _, _ in }
        #expect(probe.hasRecord)
        token.cancel()
        #expect(!probe.hasRecord && center.isEmpty)
        owner.release()
        token.cancel()
        #expect(log.entries == ["owner deinit"])
    }
}
