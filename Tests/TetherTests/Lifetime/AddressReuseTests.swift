import Foundation
import Synchronization
import Testing
import Tether

/// New objects at the addresses of dead owners and senders, also over Foundation's center.
@Suite struct AddressReuseTests {
    private let rounds = 1000
    private let log = Log<String>()

    /// No other object here has this size, so the allocator gives the memory to the next `Large`.
    private final class Large: Sendable {
        let words: (Words, Words, Words, Words, Words) = (
            Words(), Words(), Words(), Words(), Words()
        )
        struct Words { let words = (0, 0, 0, 0, 0, 0, 0, 0) }
    }

    @Test func `M7 O5 a key is free again for a new owner at a dead owner's address`() {
        let center = ObserverCenter()
        let object = Holder<Large>()
        var tokens: [NotificationObserver] = []
        for _ in 0..<rounds {
            object.object = Large()
            tokens.append(center.observe(.sample, owner: object.object!, key: "key") { _, _ in })
            #expect(tokens.last!.isActive)
            object.release()
        }
        #expect(center.isEmpty && !tokens.contains { $0.isActive })
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 O5 a new object at a dead owner's address inherits nothing`(kind: CenterKind) {
        let (log, center) = (log, kind.makeCenter())
        var addresses = Set<ObjectIdentifier>()
        var reused = 0
        for _ in 0..<rounds {
            let owner = Plain()
            if !addresses.insert(ObjectIdentifier(owner)).inserted { reused += 1 }
            #expect(OwnerObservers(of: owner).isEmpty)
            center.observe(.sample, owner: owner) { _, _ in log.add("called") }
            withExtendedLifetime(owner) {}
        }
        #expect(reused > 0)
        center.post(.sample)
        #expect(log.entries == [])
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 M5 new objects at dead senders' addresses are strangers`(kind: CenterKind) {
        let (log, center) = (log, kind.makeCenter())
        var (tokens, addresses, reused) = ([NotificationObserver](), Set<ObjectIdentifier>(), 0)
        for _ in 0..<rounds {
            do {
                let sender = Plain()
                addresses.insert(ObjectIdentifier(sender))
                tokens.append(center.observe(.sample, from: sender) { _ in log.add("stranger") })
                withExtendedLifetime(sender) {}
            }
            let stranger = Plain()
            if addresses.contains(ObjectIdentifier(stranger)) { reused += 1 }
            center.post(.sample, from: stranger)
        }
        #expect(reused > 0)
        #expect(log.entries == [])
        #expect(tokens.allSatisfy { !$0.isActive })
    }
}
