internal import Dispatch
internal import Foundation

/// SAFETY: the queue is a constant, and any thread may use a queue.
final class DispatchQueueTarget: BlockTarget, @unchecked Sendable {
    private let queue: DispatchQueue

    init(_ queue: DispatchQueue, isConcurrent: Bool, isBatching: Bool) {
        self.queue = queue
        super.init(
            queue: ObjectIdentifier(queue), isConcurrent: isConcurrent, isBatching: isBatching)
    }

    override func schedule(_ block: __owned Block) { queue.async { block.run() } }

    override var description: String {
        "dispatch queue \(queue.label)\(sharesBlocks ? "" : ", concurrently")\(batchingSuffix)"
    }
}

extension DispatchQueue {
    /// Whether the queue is global, by its label, because on Linux each request makes another
    /// wrapper.
    var isGlobal: Bool { label.hasPrefix("com.apple.root.") }
}

/// An operation queue, serial if the queue runs one operation at a time when the queue becomes the
/// target. A block is an operation, and cancelling the operation before it begins drops the block's
/// deliveries (D2).
/// SAFETY: the queue is a constant, and any thread may use a queue.
final class OperationQueueTarget: BlockTarget, @unchecked Sendable {
    private let queue: OperationQueue

    init(_ queue: OperationQueue, isBatching: Bool) {
        self.queue = queue
        super.init(
            queue: ObjectIdentifier(queue), isConcurrent: queue.maxConcurrentOperationCount != 1,
            isBatching: isBatching)
    }

    override func schedule(_ block: __owned Block) { queue.addOperation(DeliveryOperation(block)) }

    /// The queue may have become serial or concurrent since.
    override func copyForObserver() -> BlockTarget {
        OperationQueueTarget(queue, isBatching: order == .batch)
    }

    override var description: String {
        "operation queue \(queue.name.flatMap { $0.isEmpty ? nil : $0 } ?? "without a name")\(batchingSuffix)"
    }

    /// SAFETY: `block` is constant and Sendable; the rest is `Operation`'s own state.
    private final class DeliveryOperation: Operation, @unchecked Sendable {
        private let block: CancellableBlock

        init(_ block: Block) { self.block = CancellableBlock(block) }

        override func main() { block.run() }

        override func cancel() {
            super.cancel()
            block.cancel()
        }
    }
}
