internal import Foundation
internal import Synchronization

/// The deliveries that one block on a target makes. A post makes one block for each target, or for
/// each observer if `sharesBlocks` of the target is false. A switch makes one for each moved
/// delivery, or with batching one for each observer. An observer's number in the block stands for
/// the deliveries that `DeliveryOrder` says.
///
/// A post puts one block on the queue of each target, so a delivery keeps its place among all work
/// there (D2, D4). A block stores numbers, and `Mailbox` stores the notifications. A
/// block retains neither the target nor the mailboxes, which count their blocks.
///
/// Each block runs once, or is dropped once. A queue may run it twice, cancel it, or release it
/// without a run: only the first of `run`, `drop` and `deinit` does anything.
final class Block: Sendable {
    /// The delivery to one observer.
    /// SAFETY: a mailbox keeps itself until its last block begins or is dropped.
    @safe struct Entry: Sendable {
        private let mailbox: Unmanaged<Mailbox>
        private let number: UInt64

        init(_ mailbox: Mailbox, _ number: UInt64) {
            unsafe self.mailbox = .passUnretained(mailbox)
            self.number = number
        }

        fileprivate func deliver(
            after previous: inout RegistrationAddress,
            at epochGuard: UnsafeMutablePointer<EpochGuard>
        ) {
            unsafe mailbox._withUnsafeGuaranteedRef {
                unsafe $0.deliver(number, after: &previous, at: epochGuard)
            }
        }

        fileprivate func drop() { unsafe mailbox._withUnsafeGuaranteedRef { $0.dropBlock(number) } }

        fileprivate func markLate() {
            unsafe mailbox._withUnsafeGuaranteedRef { $0.markLate(number) }
        }
    }

    private let first: Entry
    /// The deliveries to further observers; in most blocks none.
    private let others: ContiguousArray<Entry>
    /// Whether the block has begun, or was dropped.
    private let isUsed = Atomic<Bool>(false)

    init(_ first: Entry, _ others: ContiguousArray<Entry>) {
        self.first = first
        self.others = others
    }

    deinit { drop() }

    private func use() -> Bool {
        if isUsed.load(ordering: .relaxed) { return false }
        return !isUsed.exchange(true, ordering: .acquiringAndReleasing)
    }

    /// Calls the handlers on a target whose later blocks a handler may run inside its call.
    func runNestable() {
        guard use() else { return }
        // A nested block of the first observer finds its handler running, and leaves the rest to
        // the return.
        for other in others {
            other.markLate()
        }
        callHandlers()
    }

    /// Calls the handlers, on the target.
    func run() {
        guard use() else { return }
        callHandlers()
    }

    private func callHandlers() {
        unsafe ThreadRecord.withGuard(epoch: EpochGuard.noEpoch) { epochGuard in
            var previous = RegistrationAddress.none
            unsafe first.deliver(after: &previous, at: epochGuard)
            for other in others {
                unsafe other.deliver(after: &previous, at: epochGuard)
            }
        }
    }

    /// Drops and counts the deliveries, unless the block has begun. The release may call the user's
    /// code.
    func drop() {
        guard use() else { return }
        first.drop()
        for other in others {
            other.drop()
        }
    }
}
