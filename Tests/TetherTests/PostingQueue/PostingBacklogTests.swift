import Foundation
import Synchronization
import Testing

@testable import Tether

@Suite struct PostingBacklogTests {
    private var backlog = PostingBacklog()

    private mutating func add(_ label: String, _ style: PostingQueue.PostingStyle = .asap, object: Any? = nil) -> Bool {
        backlog.append(.labelled(label, object: object), style: style, modes: [.default])
    }

    private mutating func popAll(_ style: PostingQueue.PostingStyle = .asap) -> [String] {
        var labels: [String] = []
        while let popped = backlog.popFirst(style, before: .max, isOpen: { _ in true }) {
            labels.append(popped.notification.label)
        }
        return labels
    }

    @Test mutating func `Q1 lines are first in first out, and say when they begin`() {
        #expect(add("1"))
        #expect(!add("2"))
        #expect(add("idle", .whenIdle))
        #expect(popAll() == ["1", "2"])
        #expect(backlog.lines.count == 1)
        #expect(popAll(.whenIdle) == ["idle"])
        #expect(backlog.isEmpty && backlog.lines.isEmpty && backlog.modes.isEmpty)
    }

    @Test mutating func `Q5 Q1 a line of closed modes is passed over, and order holds across lines`() {
        for (label, mode) in [("1", RunLoop.Mode.default), ("2", .common), ("3", .default)] {
            _ = backlog.append(.labelled(label), style: .asap, modes: [mode])
        }
        let first = backlog.popFirst(.asap, before: .max) { $0.contains(.common) }
        #expect(first?.notification.label == "2")
        _ = backlog.append(.labelled("4"), style: .asap, modes: [.common])
        #expect(popAll() == ["1", "3", "4"])
    }

    @Test mutating func `Q6 what was added after the limit waits`() {
        _ = add("1")
        let limit = backlog.nextSequence
        _ = add("2")
        #expect(backlog.popFirst(.asap, before: limit) { _ in true } != nil)
        #expect(backlog.popFirst(.asap, before: limit) { _ in true } == nil)
        #expect(backlog.count == 1)
    }

    @Test mutating func `Q3 senders that are values coalesce within their type, those not Hashable with nothing`() {
        struct Opaque {}
        _ = add("int", object: 1)
        _ = add("int8", object: Int8(1))
        _ = add("opaque", object: Opaque())
        #expect(backlog.removeAll(matching: .labelled("", object: 1), on: .onSender).count == 1)
        #expect(backlog.removeAll(matching: .labelled("", object: Opaque()), on: .onSender).count == 0)
        #expect(popAll() == ["int8", "opaque"])
    }

    @Test mutating func `Q4 an empty mask takes the very notification out, the middle one of three`() {
        let notifications = ["1", "2", "3"].map { Notification.labelled($0) }
        for notification in notifications { _ = backlog.append(notification, style: .asap, modes: [.default]) }
        #expect(backlog.removeOne(notifications[1]).count == 1)
        #expect(backlog.removeOne(notifications[1]).count == 0)
        #expect(backlog.removeOne(.labelled("1", name: .other)).count == 0)
        #expect(popAll() == ["1", "3"])
    }

    @Test mutating func `Q9 how often senders are compared does not grow with the backlog`() {
        let comparisons = Comparisons()
        let count = 2_000
        for round in 0..<2 {
            for value in 0..<count {
                let object = CountedSender(value: value, comparisons: comparisons)
                let mask: PostingBacklog.Coalescing = value.isMultiple(of: 2) ? .onSender : [.onName, .onSender]
                let removed = backlog.removeAll(matching: .labelled("", object: object), on: mask)
                #expect(removed.count == round)
                _ = add("\(round) \(value)", object: object)
            }
        }
        #expect(popAll() == (0..<count).map { "1 \($0)" })
        // A look at everything that waits would be about two thousand for each of them.
        #expect(comparisons.count.load(ordering: .relaxed) < 2 * count * 100)
    }

    @Test mutating func `Q9 random removals leave exactly what a plain list leaves`() {
        var generator = SplitMix64(seed: 1)
        var list: [(name: Notification.Name, object: Int, label: String)] = []
        for round in 0..<5_000 {
            let name = [Notification.Name.sample, .other, .chained].randomElement(using: &generator)!
            let object = Int.random(in: 0..<4, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                let mask =
                    [.onName, .onSender, [.onName, .onSender]].randomElement(using: &generator)!
                    as PostingQueue.NotificationCoalescing
                _ = backlog.removeAll(matching: Notification(name: name, object: object), on: mask)
                list.removeAll {
                    (!mask.contains(.onName) || $0.name == name) && (!mask.contains(.onSender) || $0.object == object)
                }
            case 1 where !list.isEmpty:
                let popped = backlog.popFirst(.asap, before: .max) { _ in true }
                #expect(popped?.notification.label == list.removeFirst().label)
            default:
                _ = backlog.append(
                    .labelled("\(round)", name: name, object: object), style: .asap, modes: [.default])
                list.append((name, object, "\(round)"))
            }
            #expect(backlog.count == list.count)
        }
        #expect(popAll() == list.map(\.label))
    }

    @Test mutating func `Q3 M9 a value that is not equal to itself coalesces with nothing and leaves nothing`() {
        weak var kept: Ending?
        do {
            let payload = Ending {}
            kept = payload
            for label in ["1", "2"] { _ = add(label, object: Unequal(payload: payload)) }
            let other = Notification(name: .sample, object: Unequal(payload: payload))
            #expect(backlog.removeAll(matching: other, on: .onSender).count == 0)
            #expect(backlog.removeAll(matching: other, on: [.onName, .onSender]).count == 0)
        }
        #expect(kept != nil)
        #expect(popAll() == ["1", "2"])
        #expect(kept == nil)
    }

    @Test mutating func `R6 what is taken out lives until the caller lets go of it, where no lock is held`() {
        let log = Log<String>()
        func notification(_ label: String) -> Notification {
            Notification(name: .sample, userInfo: ["payload": Ending { log.add(label) }])
        }
        func add(_ label: String) { _ = backlog.append(notification(label), style: .asap, modes: [.default]) }
        func expectReleased(_ label: String, by removal: (inout PostingBacklog) -> PostingBacklog.Removed?) {
            let removed = removal(&backlog)
            #expect(log.entries.last != label)
            withExtendedLifetime(removed) {}
        }
        for (label, mask) in [("by name", PostingBacklog.Coalescing.onName), ("by sender", .onSender)] {
            add(label)
            expectReleased(label) { $0.removeAll(matching: Notification(name: .sample), on: mask) }
            #expect(log.entries.last == label)
        }
        add("the very one")
        expectReleased("the very one") { backlog in
            let very = backlog.popFirst(.asap, before: .max) { _ in true }!.notification
            _ = backlog.append(very, style: .asap, modes: [.default])
            return backlog.removeOne(very)
        }
        #expect(log.entries.last == "the very one")
        add("posted")
        expectReleased("posted") { $0.popFirst(.asap, before: .max) { _ in true }?.removed }
        #expect(log.entries.last == "posted")
        add("all")
        expectReleased("all") { $0.removeAll() }
        #expect(log.entries == ["by name", "by sender", "the very one", "posted", "all"])
    }

    @Test mutating func `Q3 an empty optional as the sender is none`() {
        _ = add("empty", object: Int?.none as Any)
        _ = add("none")
        #expect(backlog.removeAll(matching: Notification(name: .sample), on: .onSender).count == 2)
        #expect(backlog.isEmpty)
    }

    @Test mutating func `Q4 an empty mask tells no userInfo, an empty one and another one apart`() {
        func kinds() -> [[AnyHashable: Any]?] { [nil, [:], ["a": 1]] }
        for kind in kinds() {
            for other in kinds() {
                _ = backlog.append(Notification(name: .sample, userInfo: other), style: .asap, modes: [.default])
            }
            // Not even an equal dictionary is the same, unless it is empty.
            let removed = backlog.removeOne(Notification(name: .sample, userInfo: kind)).count
            #expect(removed == (kind?.isEmpty == false ? 0 : 1))
            var left: [Int?] = []
            while let popped = backlog.popFirst(.asap, before: .max, isOpen: { _ in true }) {
                left.append(popped.notification.userInfo?.count)
            }
            #expect(left == (kind == nil ? [0, 1] : kind?.isEmpty == true ? [nil, 1] : [nil, 0, 1]))
        }
    }
}

private final class Comparisons: Sendable {
    let count = Atomic<Int>(0)
}

/// A value sender that counts how often it is compared.
private struct CountedSender: Hashable {
    let value: Int
    let comparisons: Comparisons

    static func == (left: CountedSender, right: CountedSender) -> Bool {
        left.comparisons.count.wrappingAdd(1, ordering: .relaxed)
        return left.value == right.value
    }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// A value that is equal to none, not to itself either.
private struct Unequal: Hashable {
    let payload: Ending

    static func == (left: Unequal, right: Unequal) -> Bool { false }

    func hash(into hasher: inout Hasher) {}
}
