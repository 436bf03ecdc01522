import Foundation
import Testing

@testable import Tether

/// New objects at the addresses of dead owners and senders, on Tether's own center and over Foundation's.
@Suite struct OverCentersAddressReuseTests {
    private let log = Log<String>()

    @Test(arguments: CenterKind.allCases)
    func `F1 O5 a new object at a dead owner's address inherits nothing`(kind: CenterKind) {
        let (log, center) = (log, kind.makeCenter())
        var addresses = Set<ObjectIdentifier>()
        var reused = 0
        for _ in 0..<1000 {
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
        for _ in 0..<1000 {
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
