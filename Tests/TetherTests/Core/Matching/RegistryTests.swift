import Foundation
import Testing

@testable import Tether

/// The registry as a value, without threads and without a center.
@Suite struct RegistryTests {
    private final class Object: Sendable {}

    /// Never registers anything; registrations need one to refer to.
    private let core = CenterCore(usesExactLifetimes: true)

    private func registration(key: ObserverKey? = nil) -> Registration {
        PlainRegistration(
            center: core, details: key.map { Registration.Details(key: $0) },
            site: RegistrationSite(file: #fileID, line: #line), handler: { _ in })
    }

    /// The registrations that a post reaches, each bucket's in order.
    private func reached(
        _ registry: inout Registry, _ name: Notification.Name, _ sender: SenderKey? = nil
    ) -> [[Registration]] {
        let matches = registry.matches(name: name, sender: { sender })
        let entries = [matches.entries.0, matches.entries.1, matches.entries.2, matches.entries.3].compactMap { $0 }
        #expect(entries.count == matches.count)
        return entries.map { entry in
            let slots = unsafe entry.slots.takeUnretainedValue()
            return (0..<entry.used).compactMap { index in
                unsafe slots.registration(at: index)?.takeUnretainedValue()
            }
        }
    }

    private func ids(_ registrations: [Registration]) -> [UInt64] { registrations.map(\.id) }

    @Test func `M6 an empty registry matches nothing`() {
        var registry = Registry()
        #expect(registry.isEmpty)
        #expect(reached(&registry, .sample).isEmpty)
        #expect(registry.registrations().isEmpty)
    }

    @Test func `M1 M2 a post finds one bucket of each kind that has observers`() {
        var registry = Registry()
        let (a, b) = (Object(), Object())
        let keys = [SenderKey(a), SenderKey(b)]
        let all = (0..<9).map { _ in registration() }
        var index = 0
        for name in [.sample, .other, nil] as [Notification.Name?] {
            for sender in [keys[0], keys[1], nil] as [SenderKey?] {
                _ = registry.add(all[index], name: name, sender: sender)
                index += 1
            }
        }
        #expect(registry.count == 9)
        #expect(ids(reached(&registry, .sample, keys[0]).flatMap(\.self)).sorted() == [1, 3, 7, 9])
        #expect(ids(reached(&registry, .other, keys[1]).flatMap(\.self)).sorted() == [5, 6, 8, 9])
        #expect(ids(reached(&registry, .sample).flatMap(\.self)).sorted() == [3, 9])
        #expect(ids(reached(&registry, Notification.Name("third"), keys[0]).flatMap(\.self)).sorted() == [7, 9])
        for registration in all { _ = registry.takeOut(registration) }
        #expect(registry.isEmpty)
        withExtendedLifetime((a, b)) {}
    }

    @Test func `M1 the sender is asked for only where someone observes one`() {
        var registry = Registry()
        let (plain, particular) = (registration(), registration())
        let object = Object()
        _ = registry.add(plain, name: .sample, sender: nil)
        _ = registry.add(particular, name: .other, sender: SenderKey(object))
        var asked = 0
        for name in [Notification.Name.sample, .other] {
            _ = registry.matches(
                name: name,
                sender: {
                    asked += 1
                    return nil
                })
        }
        #expect(asked == 1)
        _ = (registry.takeOut(plain), registry.takeOut(particular))
        withExtendedLifetime(object) {}
    }

    @Test func `R3 ids rise and are never given again`() {
        var registry = Registry()
        var last: UInt64 = 0
        for _ in 0..<50 {
            let registration = registration()
            _ = registry.add(registration, name: .sample, sender: nil)
            #expect(registration.id == last + 1)
            last = registration.id
            _ = registry.takeOut(registration)
        }
        #expect(registry.isEmpty)
    }

    @Test func `M3 a bucket stays in order through any additions and removals`() {
        var registry = Registry()
        var dice = SplitMix64(seed: 1)
        var live: [Registration] = []
        for _ in 0..<2_000 {
            if !live.isEmpty, Bool.random(using: &dice) {
                _ = registry.takeOut(live.remove(at: Int.random(in: 0..<live.count, using: &dice)))
            } else {
                let made = registration()
                _ = registry.add(made, name: .sample, sender: nil)
                live.append(made)
            }
            #expect(registry.count == live.count)
            #expect(ids(reached(&registry, .sample).flatMap(\.self)) == ids(live))
        }
        for registration in live { _ = registry.takeOut(registration) }
        #expect(registry.isEmpty)
    }

    @Test func `R4 an addition is not seen in the slots that a post has found before it`() {
        var registry = Registry()
        let registrations = (0..<20).map { _ in registration() }
        _ = registry.add(registrations[0], name: .sample, sender: nil)
        let matches = registry.matches(name: .sample, sender: { nil })
        var unlinked: Registry.Unlinked = []
        for registration in registrations.dropFirst() {
            _ = registry.add(registration, name: .sample, sender: nil)
            unlinked += registry.takeUnlinked()
        }
        #expect(matches.entries.0?.used == 1)
        // What was outgrown is handed out, so that a post which is walking it can go on.
        #expect(unlinked.contains { $0 is BucketSlots })
        for registration in registrations { unlinked += registry.takeOut(registration) }
        withExtendedLifetime(unlinked) {}
    }

    @Test func `R8 a removal hands out the registration, and its bucket when that is empty`() {
        var registry = Registry()
        let (first, second) = (registration(), registration())
        let object = Object()
        for registration in [first, second] {
            _ = registry.add(registration, name: .sample, sender: SenderKey(object))
        }
        let one = registry.takeOut(first)
        #expect(one.contains { $0 === first })
        #expect(!one.contains { $0 is Bucket })
        let other = registry.takeOut(second)
        #expect(other.contains { $0 === second })
        #expect(other.contains { $0 is Bucket })
        #expect(registry.isEmpty)
        withExtendedLifetime(object) {}
    }

    // MARK: The cache of names

    private func long(_ number: Int) -> Notification.Name { Notification.Name("a name that is not short \(number)") }

    private func isCached(_ name: Notification.Name, in registry: Registry) -> Bool {
        unsafe registry.cache.find(StringBits(name.rawValue)) != nil
    }

    @Test func `M9 a post puts an observed name into the cache, and the last observer's end removes it`() {
        var registry = Registry()
        let (name, one, other) = (long(1), registration(), registration())
        let anew = Notification.Name(String(decoding: Array(name.rawValue.utf8), as: UTF8.self))
        _ = registry.add(one, name: name, sender: nil)
        #expect(!isCached(name, in: registry))
        for _ in 0..<8 { for name in [name, anew] { _ = registry.matches(name: name, sender: { nil }) } }
        #expect(isCached(name, in: registry) && isCached(anew, in: registry))
        _ = registry.add(other, name: anew, sender: nil)
        _ = registry.takeOut(one)
        #expect(isCached(name, in: registry) && registry.nameCount == 1)
        let unlinked = registry.takeOut(other)
        #expect(!isCached(name, in: registry) && !isCached(anew, in: registry))
        // Posts may have found its entries, and by them the node, which has them and its bucket.
        #expect(registry.nameCount == 0 && unlinked.contains { ($0 as? NameNode)?.cached.count == 2 })
    }

    @Test func `M9 the second observer of a name puts it into the cache, the first does not`() {
        var registry = Registry()
        let (one, other) = (registration(), registration())
        _ = registry.add(one, name: long(1), sender: nil)
        #expect(!isCached(long(1), in: registry))
        let name = long(2)
        for registration in [other, registration()] { _ = registry.add(registration, name: name, sender: nil) }
        #expect(isCached(name, in: registry))
    }

    @Test func `M9 a name in strings that are made anew has few places in the cache`() {
        var registry = Registry()
        let one = registration()
        _ = registry.add(one, name: long(1), sender: nil)
        let strings = (0..<1000).map { _ in
            Notification.Name(String(decoding: Array(long(1).rawValue.utf8), as: UTF8.self))
        }
        for name in strings { _ = registry.matches(name: name, sender: { nil }) }
        #expect(strings.count { isCached($0, in: registry) } == NameNode.mostCached)
        _ = registry.takeOut(one)
        #expect(strings.count { isCached($0, in: registry) } == 0 && registry.nameCount == 0)
    }

    @Test func `M9 a name without observers is cached when it is posted often, and observed as before`() {
        var registry = Registry()
        let name = long(1)
        _ = registry.matches(name: name, sender: { nil })
        #expect(!isCached(name, in: registry) && registry.nameCount == 0)
        for _ in 0..<8 { _ = registry.matches(name: name, sender: { nil }) }
        #expect(isCached(name, in: registry) && registry.nameCount == 1)
        let anew = Notification.Name(String(decoding: Array(name.rawValue.utf8), as: UTF8.self))
        let one = registration()
        _ = registry.add(one, name: anew, sender: nil)
        #expect(ids(reached(&registry, name).flatMap(\.self)) == [1] && registry.nameCount == 1)
        _ = registry.takeOut(one)
        #expect(registry.nameCount == 0 && registry.isEmpty)
    }

    @Test func `M9 names without observers that are posted often leave as the cache has no place for them`() {
        var registry = Registry()
        let names = (0..<2000).map(long)
        for name in names { for _ in 0..<9 { _ = registry.matches(name: name, sender: { nil }) } }
        let cached = names.count { isCached($0, in: registry) }
        #expect(registry.nameCount == cached && cached <= NameCache.capacity)
        #expect(registry.isEmpty)
    }

    @Test func `M9 names that came and went beside others leave no name, and no entry`() {
        var registry = Registry()
        let staying = (0..<1000).map { _ in registration() }
        for (number, one) in staying.enumerated() { _ = registry.add(one, name: long(number), sender: nil) }
        for number in 1000..<21_000 {
            let (name, passing) = (long(number), registration())
            _ = registry.add(passing, name: name, sender: nil)
            _ = registry.matches(name: name, sender: { nil })
            _ = registry.takeOut(passing)
            #expect(!isCached(name, in: registry))
        }
        #expect(registry.nameCount == 1000 && registry.count == 1000)
        for one in staying { _ = registry.takeOut(one) }
        #expect(registry.nameCount == 0)
    }

    @Test func `R3 removing what is not in changes nothing`() {
        var registry = Registry()
        let (inside, removed, never) = (registration(), registration(), registration())
        _ = registry.add(inside, name: nil, sender: nil)
        _ = registry.add(removed, name: nil, sender: nil)
        _ = registry.takeOut(removed)
        #expect(registry.takeOut(removed).isEmpty)
        #expect(registry.takeOut(never).isEmpty)
        #expect(ids(registry.registrations()) == [1])
        _ = registry.takeOut(inside)
    }

    @Test func `M7 an equal key hands out the one that it replaces`() {
        var registry = Registry()
        let key = ObserverKey("key")
        let owned = ObserverKey("key").of(self.core)
        let (first, second, other) = (registration(key: key), registration(key: key), registration(key: owned))
        #expect(registry.add(first, name: .sample, sender: nil) == nil)
        #expect(registry.add(other, name: .sample, sender: nil) == nil)
        #expect(registry.add(second, name: .other, sender: nil) === first)
        #expect(registry.keyed[key] === second)
        // The replaced one's removal leaves the key to its successor.
        _ = registry.takeOut(first)
        #expect(registry.keyed[key] === second)
        _ = (registry.takeOut(second), registry.takeOut(other))
        #expect(registry.isEmpty)
    }

    @Test func `R9 registrations are found by name and by sender, in order`() {
        var registry = Registry()
        let object = Object()
        let key = SenderKey(object)
        let all = (0..<6).map { _ in registration() }
        let subjects: [(Notification.Name?, SenderKey?)] = [
            (.sample, key), (nil, key), (.other, nil), (.sample, nil), (nil, nil), (.sample, key),
        ]
        for (registration, subject) in zip(all, subjects) {
            _ = registry.add(registration, name: subject.0, sender: subject.1)
        }
        #expect(ids(registry.registrations()) == [1, 2, 3, 4, 5, 6])
        #expect(ids(registry.registrations(named: .sample)) == [1, 4, 6])
        #expect(ids(registry.registrations(from: key)) == [1, 2, 6])
        #expect(ids(registry.registrations(named: .sample, from: key)) == [1, 6])
        #expect(registry.registrations(named: Notification.Name("third")).isEmpty)
        for registration in all { _ = registry.takeOut(registration) }
        #expect(registry.isEmpty)
        withExtendedLifetime(object) {}
    }

    @Test func `R9 M9 a sender's names are taken out in any order, and the others are still found`() {
        var (registry, dice) = (Registry(), SplitMix64(seed: 3))
        let object = Object()
        let key = SenderKey(object)
        var live = (0..<200).map { _ in registration() }
        for (number, one) in live.enumerated() {
            _ = registry.add(one, name: Notification.Name("name \(number)"), sender: key)
        }
        while !live.isEmpty {
            _ = registry.takeOut(live.remove(at: Int.random(in: 0..<live.count, using: &dice)))
            #expect(ids(registry.registrations(from: key)) == ids(live))
        }
        #expect(registry.isEmpty)
        withExtendedLifetime(object) {}
    }
}

extension Registry {
    /// Takes a registration out; everything that this leaves for posts that may see it, itself included.
    fileprivate mutating func takeOut(_ registration: Registration) -> Unlinked {
        unsafe remove(registration).map { unsafe [$0.kept] + takeUnlinked() } ?? []
    }
}
