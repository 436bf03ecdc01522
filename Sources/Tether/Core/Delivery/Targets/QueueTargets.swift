internal import COwnerLifetime
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

    override func schedule(_ block: __owned Block) { queue.submit(block) }

    override var description: String {
        "dispatch queue \(queue.label)\(sharesBlocks ? "" : ", concurrently")\(batchingSuffix)"
    }
}

extension DispatchQueue {
    /// Runs a block on the queue, as `async` does.
    ///
    /// The C library gets the block as it is. `async` makes a closure and copies it as a C block,
    /// which takes longer than the rest of a delivery.
    func submit(_ block: __owned Block) {
        guard let queue = unsafe cQueue else { return async { block.run() } }
        // SAFETY: `self` keeps the queue during the call, and the queue keeps itself until the block
        // has run, once.
        unsafe tether_async(queue, block.address) { unsafe Block(at: $0).run() }
    }

    #if canImport(Darwin)
    /// The C library's queue: the object itself.
    var cQueue: UnsafeMutableRawPointer? {
        // SAFETY: the caller holds the queue while it uses the address.
        unsafe Unmanaged.passUnretained(self).toOpaque()
    }
    #else
    /// The C library's queue, which the object wraps; `nil` if the object's layout is not known.
    var cQueue: UnsafeMutableRawPointer? {
        unsafe DispatchQueue.beginsWithCQueue ? firstWord : nil
    }

    /// Whether the first word of a queue's object is the C library's queue.
    private static let beginsWithCQueue: Bool = {
        let queue = DispatchQueue(label: "Tether")
        let wrapped = Mirror(reflecting: queue).children.first { $0.label == "__wrapped" }
        guard let cQueue = unsafe wrapped?.value as? OpaquePointer else { return false }
        // SAFETY: the property is there, so the object has this word; it is only compared.
        return unsafe queue.firstWord == UnsafeMutableRawPointer(cQueue)
    }()

    /// SAFETY: called if a queue has a stored property of a pointer's size.
    private var firstWord: UnsafeMutableRawPointer? {
        let object = unsafe Unmanaged.passUnretained(self).toOpaque()
        // Behind the object's class and its counts of references.
        return unsafe object.load(fromByteOffset: 16, as: UnsafeMutableRawPointer?.self)
    }
    #endif

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
            block.drop()
        }
    }
}
