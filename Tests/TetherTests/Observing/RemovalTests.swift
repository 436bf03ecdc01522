import Foundation
import Testing

@testable import Tether

/// Removal in bulk, by owner, name and sender.
@Suite struct RemovalTests {
    private final class Object: Sendable {}

    /// The arguments of a removal, each given or omitted.
    struct Mix: CustomTestStringConvertible, Sendable {
        let name, sender, owner: Bool

        var testDescription: String {
            [name ? "name" : nil, sender ? "sender" : nil, owner ? "owner" : nil].compactMap(\.self)
                .joined(
                    separator: ", ")
        }

        static let all = (0..<8).map {
            Mix(name: $0 & 1 != 0, sender: $0 & 2 != 0, owner: $0 & 4 != 0)
        }
    }

    private struct Kind {
        let name: Notification.Name?
        let sender: Object?
        let owner: Object?
    }

    private let center = ObserverCenter()

    private func observe(_ kind: Kind) -> NotificationObserver {
        let sender: AnyObject = kind.sender ?? Omitted.argument
        return if let owner = kind.owner {
            center.observe(kind.name, from: sender, owner: owner) { _, _ in }
        } else {
            center.observe(kind.name, from: sender) { _ in }
        }
    }

    /// Two of every kind of observer.
    private func kinds(_ senders: [Object], _ owners: [Object]) -> [Kind] {
        var kinds: [Kind] = []
        for name in [.sample, .other, nil] as [Notification.Name?] {
            for sender in senders + [nil] {
                for owner in owners + [nil] {
                    kinds += Array(
                        repeating: Kind(name: name, sender: sender, owner: owner), count: 2)
                }
            }
        }
        return kinds
    }

    @Test(arguments: Mix.all)
    func `R9 bulk removal ends the observers that match every part, and no other`(mix: Mix) {
        let (senders, owners) = ([Object(), Object()], [Object(), Object()])
        let kinds = kinds(senders, owners)
        let tokens = kinds.map(observe)
        let sender: AnyObject = mix.sender ? senders[0] : Omitted.argument
        let owner: AnyObject = mix.owner ? owners[0] : Omitted.argument

        switch (mix.name, mix.sender) {
        case (true, _): center.removeObservers(named: .sample, from: sender, owner: owner)
        case (false, true): center.removeObservers(from: sender, owner: owner)
        case (false, false):
            if mix.owner {
                center.removeObservers(owner: owner)
            } else {
                center.removeAllObservers()
            }
        }

        let expected = kinds.map { kind in
            let matches =
                (!mix.name || kind.name == .sample) && (!mix.sender || kind.sender === senders[0])
                && (!mix.owner || kind.owner === owners[0])
            return !matches
        }
        #expect(tokens.map(\.isActive) == expected)
        #expect(center.core.count == expected.count { $0 })
        withExtendedLifetime((tokens, senders, owners)) {}
    }

    @Test(arguments: Mix.all.filter { !$0.owner })
    func `R9 Foundation's removal of an owner ends its observers of the name and sender`(
        mix: Mix
    ) {
        let (senders, owners) = ([Object(), Object()], [Object(), Object()])
        let kinds = kinds(senders, owners)
        let tokens = kinds.map(observe)

        center.removeObserver(
            owners[1], name: mix.name ? .other : nil, object: mix.sender ? senders[1] : nil)

        let expected = kinds.map { kind in
            let matches =
                kind.owner === owners[1] && (!mix.name || kind.name == .other)
                && (!mix.sender || kind.sender === senders[1])
            return !matches
        }
        #expect(tokens.map(\.isActive) == expected)
        withExtendedLifetime((senders, owners)) {}
    }

    @Test func `R9 a token is removed for a name and sender only if it was registered for them`() {
        let (sender, stranger) = (Object(), Object())
        let token = center.observe(.sample, from: sender) { _ in }
        center.removeObserver(token, name: .other, object: nil)
        center.removeObserver(token, name: nil, object: stranger)
        center.removeObserver(token, name: .sample, object: stranger)
        center.removeObserver(token, name: .sample, object: "a value")
        center.removeObserver(token, name: .sample, object: Double.nan)
        #expect(token.isActive)
        center.removeObserver(token, name: .sample, object: sender)
        #expect(!token.isActive)
        let value = center.addObserver(forName: .sample, object: 5, queue: nil) { _ in }
        center.removeObserver(value, name: .sample, object: Int8(5))
        #expect(value.isActive)
        center.removeObserver(value, name: nil, object: 5)
        #expect(!value.isActive)
        withExtendedLifetime((sender, stranger)) {}
    }

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
