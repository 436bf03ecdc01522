import Foundation
import Synchronization
import Testing

@testable import Tether

/// New objects at the addresses of dead owners and senders.
@Suite struct AddressReuseTests {
    private let rounds = 1000

    /// Of a size that nothing else here has, so that the allocator gives its memory to the next one.
    private final class Large: Sendable {
        let words: (Words, Words, Words, Words, Words) = (Words(), Words(), Words(), Words(), Words())
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
        #expect(center.core.isEmpty && !tokens.contains { $0.isActive })
    }
}
