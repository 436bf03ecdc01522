import Foundation
import Testing

@testable import Tether

/// Removal of what was never added, and of tokens that are owners.
@Suite struct RemovalTests {
    private final class Object: Sendable {}

    private let center = ObserverCenter()

    @Test func `R9 M8 removing a token ends the observers that have it as their owner, too`() {
        let (stranger, other) = (ObserverCenter(), Object())
        for owner in [center.observe(.other) { _ in }, stranger.observe(.other) { _ in }] {
            let tokens = [
                center.observe(.sample, owner: owner) { _, _ in },
                center.observe(.other, owner: owner) { _, _ in },
                stranger.observe(.other, owner: owner) { _, _ in },
                center.observe(.other, owner: other) { _, _ in },
            ]
            center.removeObserver(owner, name: .sample, object: nil)
            #expect(owner.isActive)
            #expect(tokens.map(\.isActive) == [false, true, true, true])
            let isForeign = owner.registration?.center === stranger.core
            center.removeObserver(owner)
            #expect(owner.isActive == isForeign)
            #expect(tokens.map(\.isActive) == [false, false, true, true])
        }
    }

    @Test func `R9 removing an object that was never added changes nothing`() {
        let token = center.observe(.sample) { _ in }
        center.removeObserver(Object())
        center.removeObserver("a value")
        center.removeObserver(token, name: .sample, object: "a value")
        center.removeObserver(token, name: .sample, object: Double.nan)
        center.removeObserver(Object?.none as Any)
        center.removeObservers(named: .other)
        center.removeObservers(from: Object())
        center.removeObservers(owner: Object())
        #expect(token.isActive)
        let nested: NotificationObserver?? = .some(.some(token))
        center.removeObserver(nested as Any)
        #expect(!token.isActive)
    }
}
