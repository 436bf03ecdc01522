internal import Synchronization

/// The posting queues of one center, for its audit.
final class PostingLedger: Sendable {
    /// Stands for one queue; they rise in the order in which the queues were made.
    typealias Number = UInt64

    private let queues = Locked<[Number: Unowned<AnyObject>]>([:])
    private let numbers = Atomic<Number>(0)
    private let dropped = Atomic<Int>(0)

    /// How many posts were dropped because their queue or their thread ended.
    var droppedPosts: Int { dropped.load(ordering: .relaxed) }

    /// How many queues are listed.
    var count: Int { queues.withLock(\.count) }

    /// A number for a queue that is being made.
    func makeNumber() -> Number { numbers.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Lists a queue until `unlist`. Complexity: O(1) amortised.
    func list(_ queue: any LatePoster) {
        queues.withLock { $0[queue.number] = Unowned(queue) }
    }

    /// Called by a queue's `deinit`. Complexity: O(1).
    func unlist(_ queue: any LatePoster) {
        queues.withLock { $0[queue.number] = nil }
    }

    func countDroppedPosts(_ count: Int) { dropped.wrappingAdd(count, ordering: .relaxed) }

    /// The queues in use, oldest first.
    var live: [any LatePoster] {
        queues.withLock { $0.sorted { $0.key < $1.key } }.compactMap { $0.value.take() as? any LatePoster }
    }
}

/// A queue that posts to a center later, as the center's audit sees it.
protocol LatePoster: AnyObject, Sendable {
    /// Its number in the center's ledger.
    var number: PostingLedger.Number { get }
    /// The name of the thread or the dispatch queue that will post.
    var place: String { get }
    /// How many notifications wait in it.
    var counts: (asap: Int, whenIdle: Int) { get }
}
