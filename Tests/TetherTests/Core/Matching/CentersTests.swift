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

    @Test func `M8 a token of one center given to another changes nothing on either`() {
        let (a, b) = (ObserverCenter(), ObserverCenter())
        let log = Log<String>()
        let tokens = [
            a.observe(.sample) { _ in log.add("a") }, b.observe(.sample) { _ in log.add("b") },
        ]
        b.removeObserver(tokens[0])
        b.removeObserver(tokens[0], name: .sample, object: nil)
        a.removeObserver(tokens[1])
        a.post(name: .sample, object: nil)
        b.post(name: .sample, object: nil)
        #expect(log.entries == ["a", "b"])
        #expect(tokens.map(\.isActive) == [true, true])
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
