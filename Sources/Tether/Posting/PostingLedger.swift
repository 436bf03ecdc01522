internal import Synchronization

/// The posting queues of one center, for its audit.
final class PostingLedger: Sendable {
    private struct WeakQueue: Sendable { weak var queue: PostingQueue? }

    private let queues = Guarded<[WeakQueue]>([])
    private let dropped = Atomic<Int>(0)

    /// How many posts were dropped because their queue or their thread ended.
    var droppedPosts: Int { dropped.load(ordering: .relaxed) }

    func list(_ queue: PostingQueue) {
        queues.withLock { queues in
            queues.removeAll { $0.queue == nil }
            queues.append(WeakQueue(queue: queue))
        }
    }

    func countDroppedPosts(_ count: Int) { dropped.wrappingAdd(count, ordering: .relaxed) }

    /// The queues in use, in the order in which they were made.
    var live: [PostingQueue] { queues.withLock { $0.compactMap(\.queue) } }
}
