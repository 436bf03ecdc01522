internal import Foundation
internal import Synchronization

/// The deliveries that one block on a target makes: a chain of slots. A post makes one block for
/// each target, or for each observer if `sharesBlocks` of the target is false. A switch makes one
/// for each moved delivery, or with batching one for each observer. An observer's slot in the block
/// stands for the deliveries that `DeliveryOrder` says.
///
/// A post puts one block on the queue of each target, so a delivery keeps its place among all work
/// there (D2, D4). The memory of the first slot is what libdispatch gets, so a block needs no memory
/// of its own. A block retains neither the target nor the mailboxes.
///
/// Each block runs once, or is dropped once. Where a queue may run it twice, cancel it, or release
/// it without a run, a `CancellableBlock` sees to that.
/// SAFETY: a mailbox keeps itself, and the slot, until the slot's block begins or is dropped.
struct Block: Sendable {
    private let first: DeliverySlot
    private var last: DeliverySlot

    /// A new block. The slot may have been in another block, which has begun.
    init(_ slot: DeliverySlot) {
        slot.nextInBlock = nil
        first = slot
        last = slot
    }

    /// The block of an `address`, whole.
    init(at address: UnsafeMutableRawPointer) {
        unsafe first = DeliverySlot(at: address)
        last = first
    }

    var address: UnsafeMutableRawPointer { unsafe first.address }

    /// Adds the delivery to a further observer.
    mutating func append(_ slot: DeliverySlot) {
        slot.nextInBlock = nil
        last.nextInBlock = slot
        last = slot
    }

    /// Calls `body` with each slot and its mailbox, which may both be gone afterwards.
    @inline(__always)
    private static func forEach(
        from start: DeliverySlot?, _ body: (Mailbox, DeliverySlot) -> Void
    ) {
        var next = start
        while let slot = next {
            next = slot.nextInBlock
            unsafe slot.mailbox._withUnsafeGuaranteedRef { body($0, slot) }
        }
    }

    /// Calls the handlers on a target whose later blocks a handler may run inside its call.
    func runNestable() {
        // A nested block of the first observer finds its handler running, and leaves the rest to
        // the return.
        Block.forEach(from: first.nextInBlock) { $0.markLate($1) }
        run()
    }

    /// Calls the handlers, on the target.
    func run() {
        unsafe ThreadRecord.withGuard(epoch: EpochGuard.noEpoch) { epochGuard in
            var previous = RegistrationAddress.none
            Block.forEach(from: first) { mailbox, slot in
                unsafe mailbox.deliver(slot, after: &previous, at: epochGuard)
            }
        }
    }

    /// Drops and counts the deliveries of a block that never runs. The release may call the user's
    /// code.
    func drop() { Block.forEach(from: first) { $0.dropBlock($1) } }
}

/// A block for a queue that may run a block twice, cancel it, or release it without a run: only the
/// first of `run`, `runNestable`, `drop` and `deinit` does anything.
final class CancellableBlock: Sendable {
    private let block: Block
    /// Whether the block has begun, or was dropped.
    private let isUsed = Atomic<Bool>(false)

    init(_ block: Block) { self.block = block }

    deinit { drop() }

    private func use() -> Bool {
        if isUsed.load(ordering: .relaxed) { return false }
        return !isUsed.exchange(true, ordering: .acquiringAndReleasing)
    }

    func run() { if use() { block.run() } }

    func runNestable() { if use() { block.runNestable() } }

    /// Drops the deliveries, unless the block has begun.
    func drop() { if use() { block.drop() } }
}
