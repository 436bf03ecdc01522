internal import Synchronization

// The pending deliveries of one observer: a value without a lock, which `Mailbox`
// protects.

/// The rule by which a block finds its deliveries: all of D4 and D7 for one observer.
///
/// A post gives its delivery the next number, and its block the same number. A `Block` has an entry
/// with a number for each of its observers. Here and in `Mailbox`, *block n* is the
/// observer's entry with the number n. In the table, block n begins, or is dropped.
///
/// | Order | Block n delivers | Block n, never run, drops |
/// |---|---|---|
/// | `serial` | the late deliveries before n, then n | n |
/// | `concurrent` | all up to n | n |
/// | `prioritized` | all up to n; if there are none, one that has no block | one that has no block |
/// | `unplaced` | the oldest | one that has no block |
/// | `batch` | all that are pending when it takes its first | all from n on |
///
/// - *Late* is a delivery whose own block may run behind the blocks of later posts: its block was
///   submitted by a switch or an unmuting, or has begun and waits for the return of a handler. That
///   handler is the observer's own, or another one of the same block, which may run later blocks
///   inside its call. Of the orders, `serial` alone asks which are late.
///   `Mailbox.isInline` asks whether any is, also with `batch`.
/// - On a concurrent target, and on an actor, blocks begin in any order. Whatever follows block n
///   (a barrier, or code that awaits the actor) finds the deliveries of all posts up to n made,
///   unless a call begun on an earlier target still runs (D6). No delivery is made before work
///   that was on the target before its post, such as a barrier. There are two exceptions: a
///   delivery that has no block because of a bound (D8), and batching (D7).
/// - *One that has no block*: if more deliveries are pending than blocks wait, one of them has
///   none.
///   Any would do, and the oldest is taken.
enum DeliveryOrder: Sendable {
    /// The target runs its blocks one by one, in order.
    case serial
    /// The target may run several blocks at the same time, in any order.
    case concurrent
    /// Blocks are jobs of an actor, which begin in an order of priorities. With a bound, a delivery
    /// needs a block only if no block is to spare.
    case prioritized
    /// Blocks have no place among other work, and each makes one delivery. A delivery needs a block
    /// only if no block is to spare.
    case unplaced
    /// At most one block of the observer waits on the target.
    case batch
}

/// Pending deliveries in numbered slots, oldest first.
///
/// *Representation*: a ring of slots. The delivery `number` is in `slots[number % slots.count]`,
/// and numbers from `first` until `end` have slots. A delivery that leaves empties its slot. The
/// first slot is never empty, because empty slots at the front are given up.
///
/// ```
/// number    4    5    6    7    8    9
///                ▲ first             ▲ end          slots.count == 8, count == 3
/// slot           D    -    D    D
/// ```
///
/// *Stale blocks*: a number below `firstOnTarget` is of a block on an earlier target. Such a block
/// finds nothing, because a switch gives the deliveries new numbers.
///
/// *Cost*: each operation is O(1) amortised, except `move`, `setBound`, `removeAll` and the `drop`
/// of a batch, which are O(n). With late deliveries, a block that overtakes looks at the slots
/// before its own.
struct DeliveryQueue: Sendable {
    struct Delivery: Sendable {
        let stored: StoredNotification
        var postNumber: PostNumber
        /// The beginning of the wait, if there is a trace (L5).
        let waitsSince: ObserverEvent.Moment?
    }

    /// The deliveries that a block, once begun, has still to make.
    struct Turn: Sendable {
        /// The number of the block.
        let number: UInt64
        /// With batching: the number behind the deliveries of this block.
        fileprivate var endOfBatch = UInt64.max
        /// Whether `blockCount` no longer counts the block.
        fileprivate var isUncounted = false
        /// Whether the block has taken its last delivery.
        fileprivate(set) var isOver = false

        init(_ number: UInt64) { self.number = number }
    }

    /// What follows from an append.
    struct Appended: Sendable {
        /// The delivery that the bound drops: the oldest, or the new one.
        var dropped: Delivery?
        /// The number for the block that the delivery needs, if any.
        var block: UInt64?
    }

    private struct Slot: Sendable {
        let delivery: Delivery
        /// See *late* at `DeliveryOrder`.
        var isLate: Bool
    }

    private(set) var order: DeliveryOrder
    private(set) var bound = BufferingPolicy.unbounded
    private var slots: ContiguousArray<Slot?> = []
    /// The number of the oldest delivery, or `end`.
    private var first: UInt64 = 1
    /// The number of the next delivery.
    private var end: UInt64 = 1
    private(set) var count = 0
    private var lateCount = 0
    private var firstOnTarget: UInt64 = 1
    /// With `prioritized` and `unplaced`: the number of blocks on the present target that have not
    /// looked for a delivery yet, those that wait for a running handler included.
    /// `Mailbox.State.waitingBlocks` leaves the latter out, and counts on all targets so
    /// far.
    private var blockCount = 0
    /// With `batch`: the number of the block that waits.
    private var batchBlock: UInt64?

    init(_ order: DeliveryOrder) { self.order = order }

    var isEmpty: Bool { count == 0 }

    var hasLate: Bool { lateCount > 0 }

    /// The deliveries, oldest first.
    var deliveries: [Delivery] { (first..<end).compactMap { slots[index(of: $0)]?.delivery } }

    // MARK: Adding

    /// Adds a delivery. `isLate`: whether its block may be submitted after blocks of later posts.
    mutating func append(_ delivery: consuming Delivery, isLate: Bool = false) -> Appended {
        if bound.keepsOldest, count >= bound.limit {
            return Appended(dropped: delivery, block: nil)
        }
        let number = store(Slot(delivery: delivery, isLate: isLate))
        var result = Appended(dropped: nil, block: number)
        if count > bound.limit {
            result.dropped = remove(first)
        }
        if needsBlock {
            countBlock(number)
        } else {
            result.block = nil
        }
        checkInvariants()
        return result
    }

    /// Whether the newest delivery needs a block.
    private var needsBlock: Bool {
        switch order {
        case .serial, .concurrent: true
        // Without a bound always, because a block to spare may have a lower priority than the post.
        // A bound bounds the blocks, too (D8).
        case .prioritized: bound.limit == .max || blockCount < count
        case .unplaced: blockCount < count
        case .batch: batchBlock == nil
        }
    }

    private mutating func countBlock(_ number: UInt64) {
        switch order {
        case .serial, .concurrent: break
        case .prioritized, .unplaced: blockCount += 1
        case .batch: batchBlock = number
        }
    }

    private mutating func store(_ slot: consuming Slot) -> UInt64 {
        if end - first == UInt64(slots.count) {
            grow()
        }
        let number = end
        end += 1
        count += 1
        if slot.isLate {
            lateCount += 1
        }
        slots[index(of: number)] = slot
        return number
    }

    @inline(never)
    private mutating func grow() {
        let capacity = max(4, slots.count * 2)
        var grown = ContiguousArray<Slot?>(repeating: nil, count: capacity)
        for number in first..<end {
            let index = Int(truncatingIfNeeded: number) & (capacity - 1)
            grown[index] = slots[self.index(of: number)].take()
        }
        slots = grown
    }

    /// Replaces the bound. Returns the deliveries that the new bound drops, oldest first.
    mutating func setBound(_ bound: BufferingPolicy) -> [Delivery] {
        self.bound = bound
        defer { checkInvariants() }
        return bound.keepsOldest ? removeNewest() : removeOldest()
    }

    /// Removes the oldest of more than the bound allows.
    private mutating func removeOldest() -> [Delivery] {
        var removed: [Delivery] = []
        while count > bound.limit, let delivery = remove(first) {
            removed.append(delivery)
        }
        return removed
    }

    /// Removes the newest of more than the bound allows. Returns them oldest first.
    private mutating func removeNewest() -> [Delivery] {
        var removed: [Delivery] = []
        var last = end
        while count > bound.limit {
            last -= 1
            if let delivery = remove(last) {
                removed.append(delivery)
            }
        }
        return removed.reversed()
    }

    // MARK: Removing

    /// Takes the next delivery of a block that has begun. Without one, the block has ended.
    mutating func takeNext(in turn: inout Turn) -> Delivery? {
        guard isOfPresentTarget(turn.number) else { return nil }
        defer { checkInvariants() }
        switch order {
        case .serial:
            if lateCount > 0, let late = firstLate(before: turn.number) {
                return remove(late)
            }
            turn.isOver = true
            return remove(turn.number)
        case .concurrent:
            return removeOldest(before: turn.number + 1, in: &turn)
        case .prioritized:
            if !turn.isUncounted {
                turn.isUncounted = true
                blockCount -= 1
                // Now there may be one delivery more than blocks.
                if first > turn.number, count > blockCount {
                    turn.isOver = true
                    return remove(first)
                }
            }
            return removeOldest(before: turn.number + 1, in: &turn)
        case .unplaced:
            blockCount -= 1
            turn.isOver = true
            return remove(first)
        case .batch:
            if batchBlock == turn.number {
                batchBlock = nil
            }
            // Later posts get another block, so that a handler that posts never starves the queue.
            turn.endOfBatch = min(turn.endOfBatch, end)
            return removeOldest(before: turn.endOfBatch, in: &turn)
        }
    }

    /// Removes the oldest delivery before a number. The turn is over when none is left there.
    private mutating func removeOldest(before limit: UInt64, in turn: inout Turn) -> Delivery? {
        guard first < limit else { return nil }
        let delivery = remove(first)
        turn.isOver = first >= limit
        return delivery
    }

    /// Removes the deliveries of a block that never runs.
    mutating func drop(_ number: UInt64) -> [Delivery] {
        guard isOfPresentTarget(number) else { return [] }
        defer { checkInvariants() }
        switch order {
        case .serial, .concurrent:
            return list(remove(number))
        case .prioritized, .unplaced:
            blockCount -= 1
            guard count > blockCount else { return [] }
            return list(remove(first))
        case .batch:
            guard batchBlock == number else { return [] }
            batchBlock = nil
            return (max(first, number)..<end).compactMap { remove($0) }
        }
    }

    mutating func removeAll() -> [Delivery] {
        let all = deliveries
        slots = []
        first = end
        count = 0
        lateCount = 0
        checkInvariants()
        return all
    }

    private func firstLate(before number: UInt64) -> UInt64? {
        var candidate = first
        while candidate < number {
            if let slot = slots[index(of: candidate)], slot.isLate {
                return candidate
            }
            candidate += 1
        }
        return nil
    }

    /// Empties the slot of a number, if the delivery is still pending.
    @inline(__always)
    private mutating func remove(_ number: UInt64) -> Delivery? {
        guard number >= first, number < end else { return nil }
        guard let slot = slots[index(of: number)].take() else { return nil }
        count -= 1
        if slot.isLate {
            lateCount -= 1
        }
        if number == first {
            removeEmptySlots()
        }
        return slot.delivery
    }

    @inline(__always)
    private mutating func removeEmptySlots() {
        if count == 0 {
            first = end
            // A large ring releases its memory with the last delivery.
            if slots.count > 1024 {
                slots = []
            }
            return
        }
        repeat {
            first += 1
        } while slots[index(of: first)] == nil
    }

    private func list(_ delivery: Delivery?) -> [Delivery] {
        guard let delivery else { return [] }
        return [delivery]
    }

    // MARK: Numbers

    /// Whether a number belongs to a block on the present target.
    func isOfPresentTarget(_ number: UInt64) -> Bool { number >= firstOnTarget }

    /// Allows blocks of later posts to make a delivery first, if the delivery is pending.
    mutating func markLate(_ number: UInt64) {
        guard number >= first, number < end else { return }
        let index = index(of: number)
        guard let slot = slots[index], !slot.isLate else { return }
        slots[index]!.isLate = true
        lateCount += 1
    }

    /// Moves the deliveries to another target (D6). Returns the numbers for its blocks: one for
    /// each delivery, so that other work of the queue runs between the deliveries. With batching,
    /// one.
    mutating func move(to order: DeliveryOrder) -> Range<UInt64> {
        defer { checkInvariants() }
        let moved = removeAll()
        self.order = order
        firstOnTarget = end
        batchBlock = nil
        blockCount = moved.count
        for delivery in moved {
            _ = store(Slot(delivery: delivery, isLate: true))
        }
        guard order == .batch, !isEmpty else { return firstOnTarget..<end }
        batchBlock = firstOnTarget
        return firstOnTarget..<firstOnTarget + 1
    }

    @inline(__always)
    private func index(of number: UInt64) -> Int {
        Int(truncatingIfNeeded: number) & (slots.count - 1)
    }

    /// Checks the representation in debug builds; each slot only in a small ring.
    @inline(__always)
    func checkInvariants() {
        #if DEBUG
        assert(slots.count & (slots.count - 1) == 0, "the number of slots is a power of two")
        assert(firstOnTarget <= end && first <= end && end - first <= UInt64(slots.count))
        assert((count == 0) == (first == end), "an empty queue has no numbers")
        assert(count == 0 || slots[index(of: first)] != nil, "the first slot is never empty")
        assert(count <= bound.limit)
        guard slots.count <= 2 * checkedSize else { return }
        assert(slots.count { $0 != nil } == count)
        assert(slots.count { $0?.isLate == true } == lateCount)
        assert(
            (first..<end).count { slots[index(of: $0)] != nil } == count,
            "a number outside has a slot")
        if let batchBlock {
            assert(order == .batch && isOfPresentTarget(batchBlock))
        }
        if order == .prioritized || order == .unplaced {
            assert(blockCount >= count, "a delivery without a block is never made")
        }
        #endif
    }
}
