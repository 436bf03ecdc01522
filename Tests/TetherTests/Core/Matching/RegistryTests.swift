import Foundation
import Testing

@testable import Tether

/// The registry as a value, without threads and without a center.
@Suite struct RegistryTests {
    /// The center of the registrations, without any use of its own.
    private let core = CenterCore()

    private func registration(key: ObserverKey? = nil) -> Registration {
        PlainRegistration(
            center: core, details: key.map { Registration.Details(key: $0) },
            site: RegistrationSite(file: #fileID, line: #line), handler: { _ in })
    }

    /// The registrations of a post, each bucket's in order.
    private func reached(
        _ registry: inout Registry, _ name: Notification.Name, _ sender: SenderKey? = nil
    ) -> [[Registration]] {
        let matches = registry.matches(name: name, sender: { sender })
        let entries = [matches.entries.0, matches.entries.1, matches.entries.2, matches.entries.3]
            .compactMap { $0 }
        #expect(entries.count == matches.count)
        return entries.map { entry in
            let slots = unsafe entry.slots.takeUnretainedValue()
            return (0..<entry.used).compactMap { index in
                unsafe slots.registration(at: index)?.takeUnretainedValue()
            }
        }
    }

    private func ids(_ registrations: [Registration]) -> [UInt64] { registrations.map(\.id) }

    @Test func `M3 R1 observers of two names that end in any order leave the others in order`() {
        var (registry, random) = (Registry(), SplitMix64(seed: 1))
        var live: [Int: [Registration]] = [0: [], 1: []]
        for step in 0..<4000 {
            let name = Int.random(in: 0...1, using: &random)
            // The buckets grow and shrink in turn, with holes at all places.
            if Int.random(in: 0..<4, using: &random) > (step / 200 % 2 == 0 ? 0 : 2) {
                let new = registration()
                _ = registry.add(new, name: long(name), sender: nil)
                live[name]!.append(new)
            } else if let index = live[name]!.indices.randomElement(using: &random) {
                _ = registry.takeOut(live[name]!.remove(at: index))
            }
            for name in 0...1 {
                #expect(ids(reached(&registry, long(name)).flatMap(\.self)) == ids(live[name]!))
            }
        }
    }

    // MARK: The cache of names

    private func long(_ number: Int) -> Notification.Name {
        Notification.Name("a name that is not short \(number)")
    }

    private func isCached(_ name: Notification.Name, in registry: Registry) -> Bool {
        unsafe registry.cache?.find(StringBits(name.rawValue)) != nil
    }

    @Test func `M9 a post caches an observed name, and the last observer's end removes it`() {
        var registry = Registry()
        let (name, one, other) = (long(1), registration(), registration())
        let anew = Notification.Name(String(decoding: Array(name.rawValue.utf8), as: UTF8.self))
        _ = registry.add(one, name: name, sender: nil)
        #expect(!isCached(name, in: registry))
        for _ in 0..<8 {
            for name in [name, anew] { _ = registry.matches(name: name, sender: { nil }) }
        }
        #expect(isCached(name, in: registry) && isCached(anew, in: registry))
        _ = registry.add(other, name: anew, sender: nil)
        _ = registry.takeOut(one)
        #expect(isCached(name, in: registry) && registry.nameCount == 1)
        let unlinked = registry.takeOut(other)
        #expect(!isCached(name, in: registry) && !isCached(anew, in: registry))
        // Posts may have found the entries, and through the entries the node with its bucket.
        #expect(
            registry.nameCount == 0 && unlinked.contains { ($0 as? NameNode)?.cached.count == 2 })
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

    @Test func `M9 a name without observers is cached when posted often, and observed as before`() {
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

    @Test func `M9 often posted names without observers leave when the cache has no place`() {
        var registry = Registry()
        let names = (0..<2000).map(long)
        for name in names { for _ in 0..<9 { _ = registry.matches(name: name, sender: { nil }) } }
        let cached = names.count { isCached($0, in: registry) }
        #expect(registry.nameCount == cached && cached <= NameCache.capacity)
        #expect(registry.isEmpty)
    }
}

extension Registry {
    /// Removes a registration. Returns all garbage that a post may still see, with the
    /// registration.
    fileprivate mutating func takeOut(_ registration: Registration) -> Unlinked {
        unsafe remove(registration).map { unsafe [$0.removed] + takeUnlinked() } ?? []
    }
}
