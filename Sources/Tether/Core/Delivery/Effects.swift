/// The work that changes of mailboxes leave for the moment without a lock: blocks to
/// submit, and values to release.
///
/// Both may call the user's code: a scheduler, a `deinit`. A change of one observer makes its own
/// effects. A post or an unmuting collects the effects of all its observers, so that a target gets
/// one block for all of them (D2). A switch collects, too: a block for each delivery,
/// and with batching one for all of an observer (D6).
///
/// *Cost*: one block needs no allocation. With more than `mostSearched` targets a dictionary finds
/// the block of a target, so a post to n targets is O(n).
struct Effects: ~Copyable {
    /// A block to submit.
    private struct Submission {
        let target: BlockTarget
        var block: Block

        func submit() { target.schedule(block) }
    }

    private static let mostSearched = 128

    private var first: Submission?
    private var others: ContiguousArray<Submission> = []
    /// The index in `others` of the block of each place, but for the place of `first`, which is
    /// always asked before; `nil` up to `mostSearched` submissions.
    private var indices: [BlockTarget.Place: Int]?
    private var released: [any Sendable] = []

    /// Releases a value after the lock.
    mutating func release(_ value: any Sendable) { released.append(value) }

    /// Adds a delivery in a new block, even if the target has one here. Takes over the target, so that a delivery
    /// retains it once.
    mutating func addOwnBlock(_ slot: DeliverySlot, on target: consuming BlockTarget) {
        let submission = Submission(target: target, block: Block(slot))
        if first == nil {
            first = submission
        } else {
            others.append(submission)
        }
    }

    /// Adds a delivery to the block on its target, or in a new block if the target has none here. On
    /// a concurrent target the observers of a post run at the same time, so each has its own block.
    mutating func joinBlock(_ slot: DeliverySlot, on target: consuming BlockTarget) {
        guard target.sharesBlocks, first != nil else {
            return addOwnBlock(slot, on: target)
        }
        if first!.target.sharesBlockAtPlace(of: target) {
            return first!.block.append(slot)
        }
        if let index = indexOfBlock(on: target) {
            return others[index].block.append(slot)
        }
        indices?[target.place] = others.count
        addOwnBlock(slot, on: target)
    }

    private mutating func indexOfBlock(on target: BlockTarget) -> Int? {
        if others.count <= Effects.mostSearched {
            return others.firstIndex { $0.target.sharesBlockAtPlace(of: target) }
        }
        if indices == nil {
            indices = [:]
            for (index, submission) in others.enumerated() where submission.target.sharesBlocks {
                indices?[submission.target.place] = index
            }
        }
        return indices?[target.place]
    }

    /// Carries the work out while the hazard pointer of the innermost post or block is still the
    /// registration, whose handler has returned or was not called. A user's scheduler may wait for
    /// the end of the observer, so the hazard pointer is cleared before. A release needs no
    /// clearing: a `deinit` on this thread counts as in the handler.
    mutating func carryOut(afterCallOf registration: RegistrationAddress) {
        if first != nil {
            ThreadRecord.clearHazardPointer(after: registration)
        }
        carryOut()
    }

    /// Submits the blocks and releases the values. Called with no lock held.
    ///
    /// First come the queues, then the releases, and then the targets that may run a block in
    /// `schedule`. The user's code may post in the last two: the blocks of such posts are behind
    /// the blocks here on the queues.
    mutating func carryOut() {
        LockRank.checkNoneIsHeld()
        guard let first = first.take() else {
            released = []
            return
        }
        if others.isEmpty, released.isEmpty {
            return first.submit()
        }
        let submissions = [first] + others
        others = []
        indices = nil
        for submission in submissions where !submission.target.mayRunInSchedule {
            submission.submit()
        }
        released = []
        for submission in submissions where submission.target.mayRunInSchedule {
            submission.submit()
        }
    }
}
