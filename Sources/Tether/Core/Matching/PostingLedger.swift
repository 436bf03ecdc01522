internal import Synchronization

/// The posting queues of one center, for its audit.
final class PostingLedger: Sendable {
    /// The number of one queue. Later queues have higher numbers.
    typealias Number = UInt64

    private let queues = Locked<[Number: Unowned<AnyObject>]>([:])
    private let numbers = Atomic<Number>(0)
    private let dropped = Atomic<Int>(0)

    /// The number of posts dropped at the end of their queue or thread.
    var droppedPosts: Int { dropped.load(ordering: .relaxed) }

    /// The number of listed queues.
    var count: Int { queues.withLock(\.count) }

    /// A number for a new queue.
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

/// A queue that posts to a center later, for the center's audit.
protocol LatePoster: AnyObject, Sendable {
    /// The queue's number in the center's ledger.
    var number: PostingLedger.Number { get }
    /// The name of the posting thread or dispatch queue.
    var place: String { get }
    /// The numbers of waiting notifications.
    var counts: (asap: Int, whenIdle: Int) { get }
}
