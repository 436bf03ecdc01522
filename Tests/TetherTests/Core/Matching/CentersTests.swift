import Foundation
import Testing
import Tether

/// Centers among each other.
@Suite struct CentersTests {
    private final class Owner: Sendable {}

    @Test func `M8 the default center is one object`() {
        #expect(ObserverCenter.default === ObserverCenter.default)
        #expect(ObserverCenter() !== ObserverCenter.default)
    }

    @Test func `M8 the protocol's one requirement registers and cancels`() {
        let center = ObserverCenter()
        let sender = Owner()
        let log = Log<String>()
        let registration = center.register(name: .sample, sender: sender) { _ in log.add("seen") }
        center.post(name: .sample, object: nil)
        center.post(name: .sample, object: sender)
        #expect(log.entries == ["seen"])
        registration.cancel()
        center.post(name: .sample, object: sender)
        #expect(log.entries == ["seen"])
        withExtendedLifetime(sender) {}
    }
}
