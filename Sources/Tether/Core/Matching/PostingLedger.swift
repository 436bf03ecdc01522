internal import Synchronization

/// The posting queues of one center, for its audit.
final class PostingLedger: Sendable {
    /// The name of the posting thread or dispatch queue, and the numbers of waiting notifications.
    typealias Waiting = (place: String, asap: Int, whenIdle: Int)

    private let queues = Locked<[ObjectIdentifier: @Sendable () -> Waiting?]>([:])
    private let dropped = Atomic<Int>(0)

    /// The number of posts dropped because their thread had exited.
    var droppedPosts: Int { dropped.load(ordering: .relaxed) }

    func countDroppedPosts(_ count: Int) { dropped.wrappingAdd(count, ordering: .relaxed) }

    /// Lists a queue. `waiting`: `nil` if nothing waits there. Complexity: O(1) amortised.
    func list(_ queue: ObjectIdentifier, _ waiting: @escaping @Sendable () -> Waiting?) {
        queues.withLock { $0[queue] = waiting }
    }

    /// Removes a queue from the list. Complexity: O(1) amortised.
    func unlist(_ queue: ObjectIdentifier) {
        let removed = queues.withLock { $0.removeValue(forKey: queue) }
        // Released without the lock.
        withExtendedLifetime(removed) {}
    }

    /// The queues with waiting notifications, by place.
    var waiting: [Waiting] {
        queues.withLock { Array($0.values) }.compactMap { $0() }.sorted { $0.place < $1.place }
    }
}
