internal import Foundation
internal import Synchronization

/// The deliveries of one post on one target.
///
/// A post puts one block on the queue of each target, so a delivery keeps its place among all work
/// there (D2, D4). A block stores numbers, and `PendingDeliveries` stores the notifications. A
/// block retains neither the target nor the pending deliveries, which count their blocks: each
/// block runs once, or is dropped once.
/// SAFETY: pending deliveries keep themselves until their last block begins or is dropped.
@safe struct Block: Sendable {
    private let pending: Unmanaged<PendingDeliveries>
    private let number: UInt64
    /// The deliveries to further observers; in most blocks none.
    fileprivate var others: ContiguousArray<Block> = []

    init(_ pending: PendingDeliveries, _ number: UInt64) {
        unsafe (self.pending, self.number) = (.passUnretained(pending), number)
    }

    /// Calls the handlers, on the target.
    ///
    /// `mayNest`: whether a handler may run later blocks of the target inside its call.
    func run(mayNest: Bool = false) {
        for other in others where mayNest {
            unsafe other.pending._withUnsafeGuaranteedRef { $0.allowOvertaking(of: other.number) }
        }
        unsafe ThreadRecord.withGuard(center: EpochGuard.block, epoch: 0) { epochGuard in
            var previous: UInt = 0
            unsafe deliver(after: &previous, at: epochGuard)
            for other in others { unsafe other.deliver(after: &previous, at: epochGuard) }
        }
    }

    private func deliver(
        after previous: inout UInt, at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        unsafe pending._withUnsafeGuaranteedRef {
            unsafe $0.deliver(number, after: &previous, at: epochGuard)
        }
    }

    /// Drops and counts the deliveries of a block that never runs. The release may call the user's
    /// code.
    func drop() {
        unsafe pending._withUnsafeGuaranteedRef { $0.drop(number) }
        for other in others { other.drop() }
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

    /// Drops the deliveries, unless the block has begun.
    func cancel() { if use() { block.drop() } }

    private func use() -> Bool { !isUsed.exchange(true, ordering: .acquiringAndReleasing) }
}

/// The blocks that one post submits, and the handlers that the post calls itself.
///
/// A post first reaches all observers, in registration order. Then the post submits the blocks, and
/// then calls the handlers of the posting thread. So a handler that waits for a queue finds the
/// deliveries there (M3).
/// SAFETY: `calls` does not retain the registrations; the epoch guard of the post keeps the
/// registrations' memory.
@safe struct Post: ~Copyable {
    private struct Submission {
        let target: BoundTarget
        var block: Block
    }

    /// The observers whose handlers run on the posting thread, in registration order.
    var calls = unsafe ContiguousArray<Unmanaged<Registration>>()
    private var first: Submission?
    private var others: ContiguousArray<Submission> = []
    /// The stored notification, shared by all observers of the post.
    private var stored: StoredNotification?
    /// Whether the notification was examined for objects that are being deinitialised (X3).
    private var isExamined: Bool
    /// Released with the post, not under a lock.
    private var released: [any Sendable] = []

    init(stored: StoredNotification? = nil) {
        self.stored = stored
        isExamined = stored != nil
    }

    /// Looks for objects that are being deinitialised, once. Called with no lock held, because an
    /// object may be asked.
    @inline(__always)
    mutating func examine(_ notification: borrowing Notification) {
        if isExamined { return }
        isExamined = true
        if let scrubbed = notification.scrubbed { stored = StoredNotification(scrubbed) }
    }

    mutating func store(_ notification: Notification) -> StoredNotification {
        if let stored { return stored }
        let made = StoredNotification(notification)
        stored = made
        return made
    }

    mutating func release(_ value: any Sendable) { released.append(value) }

    /// Adds a block, or its delivery to the target's block of the post.
    mutating func add(_ block: Block, on target: BoundTarget, inOwnBlock: Bool = false) {
        if first == nil {
            first = Submission(target: target, block: block)
        } else if !inOwnBlock, first!.target.hasPlace(of: target) {
            first!.block.others.append(block)
        } else if !inOwnBlock,
            let index = others.firstIndex(where: { $0.target.hasPlace(of: target) })
        {
            others[index].block.others.append(block)
        } else {
            others.append(Submission(target: target, block: block))
        }
    }

    /// Calls `body` with the post, but without the notification that the other observers share.
    mutating func withOwnNotification(_ body: (inout Post) -> Void) {
        let shared = (stored, isExamined)
        (stored, isExamined) = (nil, false)
        body(&self)
        (stored, isExamined) = shared
    }

    mutating func submit() {
        released = []
        guard let first = first.take() else { return }
        if others.isEmpty { return first.target.schedule(first.block) }
        // A scheduler of the user's may run its block at once, and the handlers may post. Their
        // blocks follow these.
        let submissions = [first] + others
        others = []
        for isCustom in [false, true] {
            for submission in submissions where (submission.target is CustomTarget) == isCustom {
                submission.target.schedule(submission.block)
            }
        }
    }
}

// MARK: Notifications that wait

/// A notification that waits, as an object: a reference long, and shared by all observers of a
/// post.
/// SAFETY: the notification never changes. The notification passes from the posting thread to the
/// targets, as a user of Foundation's `queue:` expects.
final class StoredNotification: @unchecked Sendable {
    let notification: Notification

    init(_ notification: Notification) { self.notification = notification }
}
