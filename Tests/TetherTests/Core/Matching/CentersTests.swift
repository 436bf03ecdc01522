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

    @Test func `M8 a post on one center reaches nobody on another`() {
        let (a, b) = (ObserverCenter(), ObserverCenter())
        let log = Log<String>()
        let tokens = [a.observe(.sample) { _ in log.add("a") }, b.observe(nil) { _ in log.add("b") }]
        a.post(name: .sample, object: nil)
        #expect(log.entries == ["a"])
        b.post(name: .sample, object: nil)
        #expect(log.entries == ["a", "b"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `M8 a token of one center given to another changes nothing on either`() {
        let (a, b) = (ObserverCenter(), ObserverCenter())
        let log = Log<String>()
        let tokens = [a.observe(.sample) { _ in log.add("a") }, b.observe(.sample) { _ in log.add("b") }]
        b.removeObserver(tokens[0])
        b.removeObserver(tokens[0], name: .sample, object: nil)
        a.removeObserver(tokens[1])
        a.post(name: .sample, object: nil)
        b.post(name: .sample, object: nil)
        #expect(log.entries == ["a", "b"])
        #expect(tokens.map(\.isActive) == [true, true])
    }

    @Test func `M8 R9 removing an owner's observers from one center leaves those on another`() {
        let (a, b) = (ObserverCenter(), ObserverCenter())
        let owner = Owner()
        let tokens = [a, b].map { $0.observe(.sample, owner: owner) { _, _ in } }
        a.removeObserver(owner)
        #expect(tokens.map(\.isActive) == [false, true])
        a.removeObservers(owner: owner)
        #expect(tokens.map(\.isActive) == [false, true])
        b.removeObservers(owner: owner)
        #expect(tokens.map(\.isActive) == [false, false])
        withExtendedLifetime(owner) {}
    }

    @Test func `M8 a handler on one center may post on another and back`() {
        let (a, b) = (ObserverCenter(), ObserverCenter())
        let log = Log<String>()
        let tokens = [
            a.observe(.sample) { _ in
                log.add("a begins")
                b.post(name: .sample, object: nil)
                log.add("a ends")
            },
            b.observe(.sample) { _ in
                log.add("b begins")
                a.post(name: .other, object: nil)
                log.add("b ends")
            },
            a.observe(.other) { _ in log.add("other") },
        ]
        a.post(name: .sample, object: nil)
        #expect(log.entries == ["a begins", "b begins", "other", "b ends", "a ends"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `M8 a center stands in for another by the protocol`() {
        func watch(_ center: some NotifyingCenter, _ log: Log<String>) -> NotificationObserver {
            center.observe(.sample) { _ in log.add("seen") }
        }
        let center = ObserverCenter()
        let log = Log<String>()
        let token = watch(center, log)
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["seen"])
        withExtendedLifetime(token) {}
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

    @Test func `L1 a center says how many observers it has`() {
        let center = ObserverCenter()
        let token = center.observe(.sample) { _ in }
        #expect(center.description.contains("1"))
        withExtendedLifetime(token) {}
    }
}
