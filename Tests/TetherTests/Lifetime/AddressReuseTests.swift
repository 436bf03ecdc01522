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

    /// Goes through rounds, and more where none of them got the address of the one before: a test for leaks that looks at all
    /// observers beside this one keeps what they are for from being given back. Returns how many got it.
    private func countReused(_ round: () -> Bool) -> Int {
        var (reused, count) = (0, 0)
        while count < rounds || (reused == 0 && count < 1000 * rounds) {
            if round() { reused += 1 }
            count += 1
        }
        return reused
    }

    #if canImport(ObjectiveC)
    @Test func `O5 the end of a dead sender's observers leaves alone those of the next object at its address`() {
        let (center, other) = (ObserverCenter(), ObserverCenter())
        let calls = Atomic<Int>(0)
        let sender = Holder<Large>()
        let renewed = Holder<NotificationObserver>()
        let thread = ObjectIdentifier(Thread.current)
        let renewals = countReused {
            sender.object = Large()
            let address = ObjectIdentifier(sender.object!)
            // Both centers watch the dead sender; when the first one's observer ends, the new sender gets one on the other.
            let capture = Holder(
                LoggedObject("capture", Log()) { _ in
                    guard ObjectIdentifier(Thread.current) == thread, let new = sender.object,
                        ObjectIdentifier(new) == address
                    else { return }
                    renewed.object = other.observe(.sample, from: new) { _ in calls.wrappingAdd(1, ordering: .relaxed) }
                })
            let first = Holder(
                center.observe(.sample, from: sender.object!) { [capture = capture.object!] _ in capture.touch() })
            capture.release()
            let second = other.observe(.sample, from: sender.object!) { _ in }
            sender.release()
            sender.object = Large()
            let token = center.observe(.other, from: sender.object!) { _ in }
            #expect(renewed.object.map(\.isActive) ?? true && token.isActive)
            let isRenewed = renewed.object != nil
            other.post(name: .sample, object: sender.object!)
            withExtendedLifetime(second) { first.release() }
            sender.release()
            renewed.release()
            return isRenewed
        }
        #expect(renewals > 0)
        #expect(calls.load(ordering: .relaxed) == renewals)
    }
    #endif

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
