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
        _ registry: Registry, _ name: Notification.Name, _ sender: SenderKey? = nil
    ) -> [[Registration]] {
        let matches = registry.matches(name: name, node: nil, sender: { sender })
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
        let registry = Registry()
        #expect(registry.isEmpty)
        #expect(reached(registry, .sample).isEmpty)
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
        #expect(ids(reached(registry, .sample, keys[0]).flatMap(\.self)).sorted() == [1, 3, 7, 9])
        #expect(ids(reached(registry, .other, keys[1]).flatMap(\.self)).sorted() == [5, 6, 8, 9])
        #expect(ids(reached(registry, .sample).flatMap(\.self)).sorted() == [3, 9])
        #expect(ids(reached(registry, Notification.Name("third"), keys[0]).flatMap(\.self)).sorted() == [7, 9])
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
                name: name, node: nil,
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
            #expect(ids(reached(registry, .sample).flatMap(\.self)) == ids(live))
        }
        for registration in live { _ = registry.takeOut(registration) }
        #expect(registry.isEmpty)
    }

    @Test func `R4 an addition is not seen in the slots that a post has found before it`() {
        var registry = Registry()
        let registrations = (0..<20).map { _ in registration() }
        _ = registry.add(registrations[0], name: .sample, sender: nil)
        let matches = registry.matches(name: .sample, node: nil, sender: { nil })
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

    @Test func `M9 a name without observers has a place in the cache when it is posted twice in a row`() {
        let cache = NameCache(capacity: NameCache.smallestCapacity)
        let (one, other) = (StringBits("a name of some length"), StringBits("another name of some length"))
        for bits in [one, other, one] { #expect(!cache.isWorthwhile(bits, hasObservers: false)) }
        #expect(cache.isWorthwhile(one, hasObservers: false))
        #expect(cache.isWorthwhile(other, hasObservers: true))
    }

    @Test func `M9 the cache fits the names that have observers, whatever came and went before`() {
        var registry = Registry()
        let object = Object()
        for number in 0..<200 {
            let passing = registration()
            _ = registry.add(passing, name: Notification.Name("passing \(number)"), sender: SenderKey(object))
            _ = registry.takeOut(passing)
        }
        let smallest = NameCache.smallestCapacity
        #expect(registry.cache.capacity == smallest)
        let staying = (0..<smallest).map { _ in registration() }
        for (number, one) in staying.enumerated() {
            _ = registry.add(one, name: Notification.Name("staying \(number)"), sender: nil)
        }
        #expect(registry.cache.capacity >= smallest * 2)
        for one in staying { _ = registry.takeOut(one) }
        #expect(registry.cache.capacity == smallest)
        withExtendedLifetime(object) {}
    }

    @Test func `M9 names that share a place in the cache do not drive each other out`() {
        let cache = NameCache(capacity: NameCache.smallestCapacity)
        let names = (0..<NameCache.smallestCapacity / 2).map { Notification.Name("name \($0)") }
        var driven = 0
        for name in names where cache.insert(CachedName(name: name, node: NameNode(name: name))) != nil { driven += 1 }
        let found = names.count { unsafe cache.find(StringBits($0.rawValue)) != nil }
        #expect(found == names.count - driven)
        #expect(driven <= 2)
    }

    @Test func `M9 observed names that crowd one place make the cache larger, within its bounds`() {
        var registry = Registry()
        let smallest = NameCache.smallestCapacity
        // The upper bits of the hash choose one of as many places as there are groups of four slots.
        let all = (0..<2_000).map { Notification.Name("a name that is not short \($0)") }
        let groups = Dictionary(grouping: all) { StringBits($0.rawValue).hash >> (64 - 4) }
        // Of five that two more bits tell apart, and one each of other places.
        let crowded = groups.first { Set($1.prefix(5).map { StringBits($0.rawValue).hash >> (64 - 6) }).count > 1 }!
        let others = groups.filter { $0.key != crowded.key }.values.map { $0[0] }
        let names = crowded.value.prefix(5) + others.prefix(smallest / 4 - 5)
        let registrations = names.map { _ in registration() }
        for (one, name) in zip(registrations, names) { _ = registry.add(one, name: name, sender: nil) }
        for name in names + names { _ = unsafe registry.cachedNode(name, willBeObserved: false) }
        #expect(names.allSatisfy { unsafe registry.cache.find(StringBits($0.rawValue)) != nil })
        #expect(registry.cache.capacity == smallest * 4)
        #expect(registry.registrations().count == names.count)
        // It does not shrink, and grow again, with one name that comes and goes.
        _ = registry.takeOut(registrations[0])
        #expect(registry.cache.capacity == smallest * 4)
        for one in registrations.dropLast(registrations.count / 2 - 1) { _ = registry.takeOut(one) }
        #expect(registry.cache.capacity == smallest)
        for one in registrations { _ = registry.takeOut(one) }
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
