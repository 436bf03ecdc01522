internal import Foundation
internal import Synchronization

/// The deliveries that one block on a target makes. A post makes one block for each target, or for
/// each observer if `sharesBlocks` of the target is false. A switch makes one for each moved
/// delivery, or with batching one for each observer. An observer's number in the block stands for
/// the deliveries that `DeliveryOrder` says.
///
/// A post puts one block on the queue of each target, so a delivery keeps its place among all work
/// there (D2, D4). A block stores numbers, and `PendingDeliveries` stores the notifications. A
/// block retains neither the target nor the pending deliveries, which count their blocks: each
/// block runs once, or is dropped once.
struct Block: Sendable {
    /// The delivery to one observer.
    /// SAFETY: pending deliveries keep themselves until their last block begins or is dropped.
    @safe fileprivate struct Entry: Sendable {
        let pending: Unmanaged<PendingDeliveries>
        let number: UInt64

        func deliver(
            after previous: inout RegistrationAddress,
            at epochGuard: UnsafeMutablePointer<EpochGuard>
        ) {
            unsafe pending._withUnsafeGuaranteedRef {
                unsafe $0.deliver(number, after: &previous, at: epochGuard)
            }
        }

        func drop() { unsafe pending._withUnsafeGuaranteedRef { $0.dropBlock(number) } }

        func markLate() { unsafe pending._withUnsafeGuaranteedRef { $0.markLate(number) } }
    }

    private let first: Entry
    /// The deliveries to further observers; in most blocks none.
    private var others: ContiguousArray<Entry> = []

    init(_ pending: PendingDeliveries, _ number: UInt64) {
        first = unsafe Entry(pending: .passUnretained(pending), number: number)
    }

    /// Adds the delivery of a block that has no other.
    mutating func append(_ other: Block) {
        assert(other.others.isEmpty)
        others.append(other.first)
    }

    /// Calls the handlers on a target whose later blocks a handler may run inside its call.
    func runNestable() {
        // A nested block of the first observer finds its handler running, and leaves the rest to
        // the return.
        for other in others {
            other.markLate()
        }
        run()
    }

    /// Calls the handlers, on the target.
    func run() {
        unsafe ThreadRecord.withGuard(epoch: EpochGuard.noEpoch) { epochGuard in
            var previous = RegistrationAddress.none
            unsafe first.deliver(after: &previous, at: epochGuard)
            for other in others {
                unsafe other.deliver(after: &previous, at: epochGuard)
            }
        }
    }

    /// Drops and counts the deliveries of a block that never runs. The release may call the user's
    /// code.
    func drop() {
        first.drop()
        for other in others {
            other.drop()
        }
    }
}

/// A block for a queue that may run a block twice, drop or cancel a block: runs once, or is dropped
/// once.
final class CancellableBlock: Sendable {
    private let block: Block
    private let isUsed = Atomic<Bool>(false)

    init(_ block: Block) { self.block = block }

    deinit { cancel() }

    func run() { if use() { block.run() } }

    func runNestable() { if use() { block.runNestable() } }

    /// Drops the deliveries, unless the block has begun.
    func cancel() { if use() { block.drop() } }

    private func use() -> Bool { !isUsed.exchange(true, ordering: .acquiringAndReleasing) }
}
