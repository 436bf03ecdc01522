import Foundation
import Testing

@testable import Tether

/// A center without observers keeps no memory for them.
@Suite struct MemoryTests {
    private final class Object: Sendable {}
    private struct Key: Hashable, Sendable { let number: Int }

    private let center = ObserverCenter()

    @Test func `M9 posting 300,000 distinct names without observers keeps nothing`() {
        let sender = Object()
        for number in 0..<300_000 {
            center.post(
                name: Notification.Name("name \(number)"), object: number % 2 == 0 ? sender : nil)
        }
        #expect(center.isEmpty)
    }

    @Test(arguments: 1...2) func `M9 a post that lasts keeps few of many strings of one name`(
        posts: Int
    ) {
        let name = Notification.Name("a name that is too long to stand in the string itself")
        let (calls, kept) = (Log<Int>(), Box(0))
        let tokens = [
            center.observe(name) { _ in calls.add(1) },
            center.observe(.sample) { [center] _ in
                for _ in 0..<5000 {
                    let anew = Notification.Name(
                        String(decoding: Array(name.rawValue.utf8), as: UTF8.self))
                    for _ in 0..<posts { center.post(name: anew, object: nil) }
                }
                kept.set(center.core.state.withLock { $0.garbage.count })
            },
        ]
        center.post(name: .sample, object: nil)
        #expect(calls.entries.count == 5000 * posts)
        #expect(kept.value < 200)
        for token in tokens { token.cancel() }
        #expect(center.isEmpty)
    }

    @Test(arguments: [10, 1000, 1600]) func `M9 the table of keys shrinks with its observers`(
        count: Int
    ) {
        let tokens = (0..<10_000).map { center.observe(.sample, key: Key(number: $0)) { _ in } }
        for token in tokens.dropFirst(count) { token.cancel() }
        let capacity = center.core.state.withLock { $0.registry.keyed.capacity }
        #expect(capacity <= max(64, 4 * count))
        withExtendedLifetime(tokens) {}
    }

    @Test(arguments: [true, false], [nil, Notification.Name.sample])
    func `M9 a name's slots shrink with its observers in any order of ends`(
        newestFirst: Bool, name: Notification.Name?
    ) {
        let tokens = (0..<1000).map { _ in center.observe(name) { _ in } }
        let ending =
            newestFirst ? Array(tokens.dropFirst(10).reversed()) : Array(tokens.dropLast(10))
        for token in ending { token.cancel() }
        let capacity = center.core.state.withLock { state in
            let matches = state.registry.matches(name: .sample, sender: { nil })
            return unsafe matches.entries.0?.slots.takeUnretainedValue().capacity
        }
        #expect(capacity ?? 0 <= 4 * 10)
        withExtendedLifetime(tokens) {}
    }

    @Test func `M9 the time of ends inside of posts is not quadratic in the observers`() async {
        let growth = await growth(from: 2000, to: 32_000) { count in
            let remaining = Locked((0..<count).map { _ in center.observe(.sample) { _ in } })
            let tick = center.observe(nil) { _ in
                let newest = remaining.withLock { $0.popLast() }
                newest?.cancel()
            }
            for _ in 0..<count / 2 { center.post(name: Notification.Name("tick"), object: nil) }
            tick.cancel()
        }
        #expect(growth < 4)
    }

    @Test func `M9 names that came and went, observed and posted, leave none behind`() {
        let staying = (0..<100).map { number in
            center.observe(Notification.Name("staying \(number)")) { _ in }
        }
        for number in 0..<5000 {
            let name = Notification.Name("a name that comes and goes, number \(number)")
            let token = center.observe(name) { _ in }
            for _ in 0..<2 { center.post(name: name, object: nil) }
            token.cancel()
        }
        #expect(center.core.state.withLock { $0.registry.nameCount } == 100)
        for token in staying { token.cancel() }
        #expect(center.isEmpty)
    }

    @Test(arguments: 0..<6) func `M9 after additions and removals of every kind nothing is left`(
        seed: Int
    ) {
        var dice = SplitMix64(seed: UInt64(seed))
        var tokens: [NotificationObserver] = []
        var objects: [Object] = (0..<4).map { _ in Object() }
        let jobs = ManualScheduler()
        for number in 0..<600 {
            let name: Notification.Name? =
                [nil, .sample, .other, Notification.Name("name \(number)")].randomElement(
                    using: &dice)!
            let object = objects.randomElement(using: &dice)!
            switch Int.random(in: 0..<14, using: &dice) {
            case 0: tokens.append(center.observe(name) { _ in })
            case 1: tokens.append(center.observe(name, from: object) { _ in })
            case 2: center.observe(name, owner: object) { _, _ in }
            case 3:
                center.observe(name, from: objects.randomElement(using: &dice)!, owner: object) {
                    _, _ in
                }
            case 4: tokens.append(center.observe(name, key: Key(number: number % 5)) { _ in })
            case 5: center.observe(name, owner: object, key: Key(number: number % 5)) { _, _ in }
            case 6:
                tokens.append(
                    center.observe(name, from: object, on: .custom(jobs), once: true) { _ in })
            case 7:
                tokens.append(
                    center.addObserver(forName: name, object: number % 7, queue: nil) { _ in })
            case 8:
                if !tokens.isEmpty {
                    tokens.remove(at: Int.random(in: 0..<tokens.count, using: &dice)).cancel()
                }
            case 9:
                if !tokens.isEmpty {
                    tokens.remove(at: Int.random(in: 0..<tokens.count, using: &dice))
                }
            case 10: objects[Int.random(in: 0..<4, using: &dice)] = Object()
            case 11: center.removeObservers(from: object)
            case 12: center.post(name: Notification.Name("unobserved \(number)"), object: object)
            default: center.post(name: name ?? .sample, object: object)
            }
        }
        #expect(!center.isEmpty)
        tokens = []
        objects = []
        #expect(center.isEmpty)
    }
}
