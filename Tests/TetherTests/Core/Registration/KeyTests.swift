import Foundation
import Synchronization
import Testing

@testable import Tether

/// Observers with a key: at most one observer for each key.
@Suite(.ownThread) struct KeyTests {
    private final class Object: Sendable {}
    private enum Key { case a, b }

    private let center = ObserverCenter()
    private let log = Log<String>()

    @Test func `M7 different keys, centers and owners do not meet`() {
        let (x, y, elsewhere) = (Object(), Object(), ObserverCenter())
        let tokens = [
            center.observe(.sample, key: Key.a) { _ in },
            center.observe(.sample, key: Key.b) { _ in },
            center.observe(.sample, key: "a") { _ in },
            center.observe(.sample) { _ in },
            center.observe(.sample) { _ in },
            center.observe(.sample, owner: x, key: Key.a) { _, _ in },
            center.observe(.sample, owner: y, key: Key.a) { _, _ in },
            center.observe(.sample, owner: y) { _, _ in },
            elsewhere.observe(.sample, key: Key.a) { _ in },
            elsewhere.observe(.sample, owner: x, key: Key.a) { _, _ in },
        ]
        #expect(tokens.map(\.isActive) == Array(repeating: true, count: 10))
        let replacement = center.observe(.other, owner: x, key: Key.a) { _, _ in }
        #expect(
            tokens.map(\.isActive) == [true, true, true, true, true, false, true, true, true, true])
        withExtendedLifetime((replacement, x, y)) {}
    }

    @Test func `M7 M4 a key is equal to the content of its optionals and boxes`() {
        let keys: [any Hashable] = [
            1, Int?.some(1), Int??.some(.some(1)), AnyHashable(1), AnyHashable(Int?.some(1)),
        ]
        let tokens = keys.map { center.observe(.sample, key: $0) { _ in } }
        #expect(tokens.map(\.isActive) == [false, false, false, false, true])
        let none: [any Hashable] = [Int?.none, Int?.none, String?.none]
        let empty = none.map { center.observe(.sample, key: $0) { _ in } }
        #expect(empty.map(\.isActive) == [false, true, true])
    }

    @Test func `M7 a post under way that has not reached a replaced observer calls neither`() {
        let (log, center, second) = (log, center, Box<NotificationObserver?>())
        let replacing = center.observe(.sample, once: true) { _ in
            second.set(center.observe(.sample, key: 1) { _ in log.add("second") })
        }
        let first = center.observe(.sample, key: 1) { _ in log.add("first") }
        center.post(name: .sample, object: nil)
        #expect(log.entries == [])
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["second"])
        withExtendedLifetime((replacing, first)) { second.drop() }
    }

    @Test func `M7 a key is free once its observer is cancelled, has run once or lost its owner`() {
        let stopped = center.observe(.sample, key: 1) { _ in }
        stopped.cancel()
        let once = center.observe(.sample, once: true, key: 1) { _ in }
        #expect(once.isActive)
        center.post(name: .sample, object: nil)
        let owner = Box(optional: Object())
        let owned = center.observe(.sample, owner: owner.value!, key: 1) { _, _ in }
        owner.drop()
        #expect(!owned.isActive)
        #expect(center.core.isEmpty)
        let last = center.observe(.sample, key: 1) { _ in }
        #expect([stopped.isActive, once.isActive, last.isActive] == [false, false, true])
    }

    private func keyed(_ core: CenterCore) -> PlainRegistration {
        PlainRegistration(
            center: core,
            details: Registration.Details(key: ObserverKey(1, at: CallSite(#fileID, #line))),
            site: RegistrationSite(file: #fileID, line: #line), handler: { _ in })
    }

    @Test func `M7 an observer that ended before its addition replaces no observer`() {
        let core = CenterCore()
        let (first, second) = (keyed(core), keyed(core))
        core.add(first, name: .sample, sender: nil)
        let isEnding = second.close()
        core.add(second, name: .sample, sender: nil)
        second.completeEnd()
        #expect(isEnding && !first.hasEnded && core.count == 1)
        first.end()
        #expect(core.isEmpty)
    }

    @Test func `M7 R3 an observer that ends during its replacement ends once, and is in no audit`()
    {
        let core = CenterCore()
        let (first, second) = (keyed(core), keyed(core))
        core.add(first, name: .sample, sender: nil)
        #expect(Audit([Unowned(first)]).count == 1)
        // The first half of an end, whose second half comes after the replacement.
        let isEnding = first.close()
        #expect(isEnding && Audit([Unowned(first)]).isEmpty)
        core.add(second, name: .sample, sender: nil)
        first.completeEnd()
        #expect(core.registrations().map { $0.retained === second } == [true])
        second.end()
        #expect(core.isEmpty)
    }
}
