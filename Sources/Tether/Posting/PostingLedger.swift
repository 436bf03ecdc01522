internal import Synchronization

/// The posting queues of one center, for its audit.
final class PostingLedger: Sendable {
    private struct WeakQueue: Sendable { weak var queue: PostingQueue? }

    private let queues = Guarded<[WeakQueue]>([])
    private let dropped = Atomic<Int>(0)

    /// How many posts were dropped because their queue or their thread ended.
    var droppedPosts: Int { dropped.load(ordering: .relaxed) }

    func list(_ queue: PostingQueue) {
        // What a weak reference gives may be the last one, which is not to go under the lock (R6).
        let seen = queues.withLock { queues in
            let seen = queues.map(\.queue)
            queues = zip(queues, seen).filter { $0.1 != nil }.map(\.0)
            queues.append(WeakQueue(queue: queue))
            return seen
        }
        withExtendedLifetime(seen) {}
    }

    func countDroppedPosts(_ count: Int) { dropped.wrappingAdd(count, ordering: .relaxed) }

    /// The queues in use, in the order in which they were made.
    var live: [PostingQueue] { queues.withLock { $0.compactMap(\.queue) } }
}
