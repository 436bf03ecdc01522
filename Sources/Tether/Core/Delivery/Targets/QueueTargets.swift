internal import Dispatch
internal import Foundation

/// A dispatch queue: a block of ours is a block of the queue.
final class DispatchQueueTarget: BoundTarget, @unchecked Sendable {
    private let queue: DispatchQueue

    init(_ target: DeliveryTarget, _ queue: DispatchQueue, _ isConcurrent: Bool) {
        self.queue = queue
        super.init(target, place: ObjectIdentifier(queue), isConcurrent: isConcurrent)
    }

    override func schedule(_ block: Block) { queue.async { block.run() } }

    override var isCurrent: Bool { false }
}

extension DispatchQueue {
    /// Whether this is one of the global concurrent queues. Known by its label, because on Linux each call that asks for one
    /// makes another wrapper of it.
    var isGlobal: Bool {
        guard label.hasPrefix("com.apple.root.") else { return false }
        let name = label.hasSuffix(".overcommit") ? String(label.dropLast(".overcommit".count)) : label
        return DispatchQueue.globalLabels.contains(name) || name == "com.apple.root.maintenance-qos"
    }

    private static let globalLabels = Set(
        [DispatchQoS.QoSClass.userInteractive, .userInitiated, .default, .utility, .background, .unspecified].map {
            DispatchQueue.global(qos: $0).label
        })
}

/// An operation queue, which is serial if it runs one operation at a time when it becomes the target. A block is an operation,
/// and cancelling it drops the block's deliveries (D2).
final class OperationQueueTarget: BoundTarget, @unchecked Sendable {
    private let queue: OperationQueue

    init(_ target: DeliveryTarget, _ queue: OperationQueue) {
        self.queue = queue
        super.init(
            target, place: ObjectIdentifier(queue), isConcurrent: queue.maxConcurrentOperationCount != 1)
    }

    override func schedule(_ block: Block) { queue.addOperation(BlockOperation(block)) }

    override var isCurrent: Bool { false }

    /// SAFETY: `block` never changes and is Sendable; the rest is `Operation`'s own state.
    private final class BlockOperation: Operation, @unchecked Sendable {
        private let block: CancellableBlock

        init(_ block: Block) { self.block = CancellableBlock(block) }

        override func main() { block.run() }

        override func cancel() {
            super.cancel()
            block.cancel()
        }
    }
}
