import Foundation
import Synchronization
import Testing

@testable import Tether

@Suite struct PostingBacklogTests {
    private var backlog = PostingBacklog()

    private mutating func add(
        _ label: String, _ style: PostingQueue.PostingStyle = .asap, object: Any? = nil
    ) -> Bool {
        backlog.append(.labelled(label, object: object), style: style, modes: [.default])
    }

    private mutating func popAll(_ style: PostingQueue.PostingStyle = .asap) -> [String] {
        var labels: [String] = []
        for number in backlog.due([style], isOpen: { _ in true }) {
            labels += backlog.remove([number]).notifications.map(\.label)
        }
        return labels
    }

    @Test mutating func `Q3 bits of a mask without a meaning change nothing`() {
        _ = add("a")
        let mask = PostingBacklog.Coalescing(
            rawValue: PostingBacklog.Coalescing.onName.rawValue | 4)
        #expect(backlog.removeAll(matching: .labelled("b"), on: mask).notifications.count == 1)
        #expect(backlog.isEmpty)
    }

    @Test mutating func `Q9 how often senders are compared does not grow with the backlog`() {
        let comparisons = Comparisons()
        let count = 2_000
        for round in 0..<2 {
            for value in 0..<count {
                let object = CountedSender(value: value, comparisons: comparisons)
                let mask: PostingBacklog.Coalescing =
                    value.isMultiple(of: 2) ? .onSender : [.onName, .onSender]
                let removed = backlog.removeAll(matching: .labelled("", object: object), on: mask)
                #expect(removed.notifications.count == round)
                _ = add("\(round) \(value)", object: object)
            }
        }
        #expect(popAll() == (0..<count).map { "1 \($0)" })
        // A scan of all waiting notifications would make about two thousand comparisons for each
        // notification.
        #expect(comparisons.count.load(ordering: .relaxed) < 2 * count * 100)
    }

    @Test
    mutating func `R6 removed notifications live until the caller releases them without a lock`() {
        let log = Log<String>()
        func notification(_ label: String) -> Notification {
            Notification(name: .sample, userInfo: ["payload": Ending { log.add(label) }])
        }
        func add(_ label: String) {
            _ = backlog.append(notification(label), style: .asap, modes: [.default])
        }
        func expectReleased(
            _ label: String, by removal: (inout PostingBacklog) -> PostingBacklog.Removed
        ) {
            let removed = removal(&backlog)
            #expect(log.entries.last != label)
            withExtendedLifetime(removed) {}
        }
        for (label, mask) in [
            ("by name", PostingBacklog.Coalescing.onName), ("by sender", .onSender),
        ] {
            add(label)
            expectReleased(label) { $0.removeAll(matching: Notification(name: .sample), on: mask) }
            #expect(log.entries.last == label)
        }
        add("the very one")
        expectReleased("the very one") { backlog in
            let very = backlog.removeAll().notifications[0]
            _ = backlog.append(very, style: .asap, modes: [.default])
            return backlog.removeOne(very)
        }
        #expect(log.entries.last == "the very one")
        add("posted")
        expectReleased("posted") { $0.remove($0.due([.asap]) { _ in true }) }
        #expect(log.entries.last == "posted")
        add("all")
        expectReleased("all") { $0.removeAll() }
        #expect(log.entries == ["by name", "by sender", "the very one", "posted", "all"])
    }
}

private final class Comparisons: Sendable {
    let count = Atomic<Int>(0)
}

/// A value sender that counts its comparisons.
private struct CountedSender: Hashable {
    let value: Int
    let comparisons: Comparisons

    static func == (left: CountedSender, right: CountedSender) -> Bool {
        left.comparisons.count.wrappingAdd(1, ordering: .relaxed)
        return left.value == right.value
    }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
