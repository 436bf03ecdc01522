internal import Dispatch
internal import Foundation

/// SAFETY: the queue is a constant, and any thread may use a queue.
final class DispatchQueueTarget: BoundTarget, @unchecked Sendable {
    private let queue: DispatchQueue

    init(_ target: DeliveryTarget, _ queue: DispatchQueue, _ isConcurrent: Bool) {
        self.queue = queue
        super.init(target, place: ObjectIdentifier(queue), isConcurrent: isConcurrent)
    }

    override func schedule(_ block: Block) { queue.async { block.run() } }
}

extension DispatchQueue {
    /// Whether the queue is global, by its label, because on Linux each request makes another wrapper.
    var isGlobal: Bool { label.hasPrefix("com.apple.root.") }
}

/// An operation queue, serial if the queue runs one operation at a time when the queue becomes the target. A block is
/// an operation, and cancelling the operation drops the block's deliveries (D2).
///
/// SAFETY: the queue is a constant, and any thread may use a queue.
final class OperationQueueTarget: BoundTarget, @unchecked Sendable {
    private let queue: OperationQueue

    init(_ target: DeliveryTarget, _ queue: OperationQueue) {
        self.queue = queue
        super.init(
            target, place: ObjectIdentifier(queue), isConcurrent: queue.maxConcurrentOperationCount != 1)
    }

    override func schedule(_ block: Block) { queue.addOperation(BlockOperation(block)) }

    /// SAFETY: `block` is constant and Sendable; the rest is `Operation`'s own state.
    private final class BlockOperation: Operation, @unchecked Sendable {
        private let block: CancellableBlock

        init(_ block: Block) { self.block = CancellableBlock(block) }

        override func main() { block.run() }

        override func cancel() {
            super.cancel()
            if !isFinished { block.cancel() }
        }
    }
}
