internal import Foundation
internal import Synchronization

// The pending deliveries of one observer: a value without a lock, which `Mailbox`
// protects.

/// The rule by which a block finds its deliveries: all of D4 and D7 for one observer.
///
/// A post gives its delivery the next number, and a `DeliverySlot` that stands for the delivery in
/// the post's `Block`. Here and in `Mailbox`, *block n* is the block with the slot of number n. In
/// the table, block n begins, or is dropped.
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

/// A delivery of one observer, and its place in a `Block`: the block has the address of the slot.
///
/// A slot with a block stays as it is until the block has begun or is dropped, also when another
/// block has made the delivery, or a bound has dropped the delivery.
///
/// *Cost*: 64 bytes, a cache line.
///
/// SAFETY: the slot's `DeliveryQueue` allocates the memory, and deallocates it when no slot has a
/// delivery or a block. The lock of the mailbox protects the content.
@safe @dynamicMemberLookup struct DeliverySlot: @unchecked Sendable {
    @safe struct Content {
        var number: UInt64 = 0
        /// The delivery while it is pending.
        var delivery: DeliveryQueue.Delivery?
        /// See *late* at `DeliveryOrder`.
        var isLate = false
        /// Whether a block has the slot, and has neither begun nor been dropped.
        var hasBlock = false
        /// The next slot of the queue's list.
        var newer: DeliverySlot?
    }

    /// What a block uses without the lock: apart from the content, which another thread may change
    /// meanwhile.
    @safe struct BlockPart {
        let mailbox: Unmanaged<Mailbox>
        /// The delivery of the same block to the next observer.
        var nextInBlock: DeliverySlot?
    }

    /// What is at the address.
    @safe struct Memory {
        var content = Content()
        var blockPart: BlockPart
    }

    /// What a queue's C function gets, in place of the block.
    let address: UnsafeMutableRawPointer

    /// The slot with an address.
    @inline(__always)
    init(at address: UnsafeMutableRawPointer) { unsafe self.address = unsafe address }

    @inline(__always)
    subscript<Value>(dynamicMember property: WritableKeyPath<Content, Value>) -> Value {
        get {
            unsafe address.assumingMemoryBound(to: Content.self).pointee[keyPath: property]
        }
        nonmutating _modify {
            yield unsafe &address.assumingMemoryBound(to: Content.self).pointee[keyPath: property]
        }
    }

    @inline(__always)
    var mailbox: Unmanaged<Mailbox> { unsafe blockPart.pointee.mailbox }

    @inline(__always)
    var nextInBlock: DeliverySlot? {
        get { unsafe blockPart.pointee.nextInBlock }
        nonmutating set { unsafe blockPart.pointee.nextInBlock = newValue }
    }

    @inline(__always)
    private var blockPart: UnsafeMutablePointer<BlockPart> {
        // SAFETY: the part follows the content, whose size is a multiple of the part's alignment.
        unsafe (address + MemoryLayout<Content>.size).assumingMemoryBound(to: BlockPart.self)
    }

    @inline(__always)
    static func != (one: DeliverySlot, other: DeliverySlot) -> Bool {
        unsafe one.address != other.address
    }
}

/// Pending deliveries in numbered slots, oldest first.
///
/// *Representation*: a list of slots. From `first` on, slots have had deliveries, and from `tail`
/// on they are free. A delivery that leaves empties its slot. The first slot is never empty, because
/// empty slots at the front leave the list. They become free behind `lastFree`, or, if they have a
/// block, when the block has begun or is dropped. So a block that never runs keeps its slot alone.
///
/// ```
/// number    4      5    6    7    8
///           block       ▲ first        ▲ tail          ▲ lastFree
/// delivery  -           D    -    D    -     -    -    -          count == 2, end == 9
/// ```
///
/// Slot 4 is not in the list: a bound has dropped its delivery, and its block still waits. Slot 5
/// has become free, and is behind the tail.
///
/// *Stale blocks*: a number below `firstOnTarget` is of a block on an earlier target. Such a block
/// finds nothing, because a switch gives the deliveries new slots.
///
/// *Cost*: each operation is O(1) amortised, except `move`, `setBound`, `removeAll` and the `drop`
/// of a batch, which are O(n). If a delivery is late, a block looks at the slots before its own. A
/// queue without deliveries and blocks keeps at most 16 kB.
///
/// SAFETY: the slots belong to this value alone, so they move to another thread together.
@safe struct DeliveryQueue: ~Copyable, @unchecked Sendable {
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
        /// The slot of the number, as long as deliveries up to the number are pending.
        fileprivate let slot: DeliverySlot
        /// The number behind the last delivery that the block may make.
        fileprivate let limit: UInt64
        /// Whether the block has taken its last delivery.
        fileprivate(set) var isOver = false
    }

    private(set) var order: DeliveryOrder
    private(set) var bound = BufferingPolicy.unbounded
    /// The oldest delivery, or `tail`.
    private var first: DeliverySlot
    /// The slot of the next delivery.
    private var tail: DeliverySlot
    private var lastFree: DeliverySlot
    /// The memory of all slots.
    private var chunks: [SlotChunk]
    /// The number of the next delivery.
    private var end: UInt64 = 1
    private(set) var count = 0
    private var lateCount = 0
    private var firstOnTarget: UInt64 = 1
    /// The number of blocks on the present target that have not looked for a delivery yet, those
    /// that wait for a running handler included.
    private var blockCount = 0
    /// The number of slots with a block, on all targets so far.
    private var slotsWithBlock = 0

    init(_ order: DeliveryOrder, of mailbox: Unmanaged<Mailbox>) {
        self.order = order
        let chunk = unsafe SlotChunk(capacity: 4, of: mailbox)
        first = chunk.first
        tail = chunk.first
        lastFree = chunk.last
        chunks = [chunk]
    }

    deinit { for chunk in chunks { chunk.deallocate() } }

    var isEmpty: Bool { count == 0 }

    var hasLate: Bool { lateCount > 0 }

    /// Whether a block has a slot of this queue.
    var hasBlocks: Bool { slotsWithBlock > 0 }

    /// The number of slots in memory.
    var capacity: Int { chunks.reduce(0) { $0 + $1.capacity } }

    /// The deliveries, oldest first.
    var deliveries: [Delivery] { slots.compactMap(\.delivery) }

    /// The slots of the deliveries, oldest first.
    private var slots: [DeliverySlot] {
        var slots: [DeliverySlot] = []
        var slot = first
        while slot != tail, let newer = slot.newer {
            if slot.delivery != nil { slots.append(slot) }
            slot = newer
        }
        return slots
    }

    // MARK: Adding

    /// Whether the bound drops the next delivery.
    var refusesNext: Bool { bound.keepsOldest && count >= bound.limit }

    /// Removes the oldest delivery, if the bound has no room for another.
    mutating func makeRoom() -> Delivery? { count < bound.limit ? nil : remove(first) }

    /// Adds a delivery. Returns the slot for the block that the delivery needs, if any. `isLate`:
    /// whether the block may be submitted after blocks of later posts.
    mutating func append(_ delivery: consuming Delivery, isLate: Bool = false) -> DeliverySlot? {
        let slot = tail
        tail = slot.newer ?? addChunk()
        slot.number = end
        slot.delivery = consume delivery
        slot.isLate = isLate
        end += 1
        count += 1
        if isLate {
            lateCount += 1
        }
        defer { checkInvariants() }
        guard needsBlock else { return nil }
        slot.hasBlock = true
        slotsWithBlock += 1
        blockCount += 1
        return slot
    }

    /// Whether the newest delivery needs a block.
    private var needsBlock: Bool {
        switch order {
        case .serial, .concurrent: true
        // Without a bound always, because a block to spare may have a lower priority than the post.
        // A bound bounds the blocks, too (D8).
        case .prioritized: bound.limit == .max || blockCount < count
        case .unplaced: blockCount < count
        case .batch: blockCount == 0
        }
    }

    /// Adds free slots behind the last. Returns the first of them.
    @inline(never)
    private mutating func addChunk() -> DeliverySlot {
        let capacity = min(512, chunks[chunks.count - 1].capacity * 2)
        let chunk = unsafe SlotChunk(capacity: capacity, of: tail.mailbox)
        chunks.append(chunk)
        addFreeSlots(of: chunk)
        return chunk.first
    }

    private mutating func addFreeSlots(of chunk: SlotChunk) {
        lastFree.newer = chunk.first
        lastFree = chunk.last
    }

    /// Replaces the bound. Returns the deliveries that the new bound drops, oldest first.
    mutating func setBound(_ bound: BufferingPolicy) -> [Delivery] {
        self.bound = bound
        let excess = max(0, count - bound.limit)
        return remove(bound.keepsOldest ? slots.suffix(excess) : slots.prefix(excess))
    }

    // MARK: Removing

    /// Begins the block of a slot, which is on the present target.
    @inline(__always)
    mutating func begin(_ slot: DeliverySlot) -> Turn {
        // Posts of a batch's handlers get another block, so that they never starve the queue.
        let limit = order == .batch ? end : slot.number + 1
        let turn = Turn(number: slot.number, slot: slot, limit: limit)
        blockCount -= 1
        releaseBlock(of: slot)
        return turn
    }

    /// Takes the next delivery of a block that has begun. Without one, the block has ended.
    @inline(__always)
    mutating func takeNext(in turn: inout Turn) -> Delivery? {
        defer { checkInvariants() }
        switch order {
        case .serial:
            guard let slot = firstLate(orOf: turn) else { return nil }
            turn.isOver = slot.number == turn.number
            return remove(slot)
        case .concurrent, .batch:
            return removeOldest(in: &turn)
        case .prioritized:
            // Since the block has begun, there may be one delivery more than blocks.
            if count > blockCount, first.number >= turn.limit {
                turn.isOver = true
                return remove(first)
            }
            return removeOldest(in: &turn)
        case .unplaced:
            turn.isOver = true
            return remove(first)
        }
    }

    /// The oldest late delivery before a block's own, or that one.
    private func firstLate(orOf turn: Turn) -> DeliverySlot? {
        guard hasDelivery(before: turn.limit) else { return nil }
        // Without late deliveries no search, which would take long behind a block that is held back.
        if lateCount == 0 {
            let isPending = turn.slot.number == turn.number && turn.slot.delivery != nil
            return isPending ? turn.slot : nil
        }
        var slot = first
        while slot != tail, slot.number <= turn.number, let newer = slot.newer {
            if slot.delivery != nil, slot.isLate || slot.number == turn.number { return slot }
            slot = newer
        }
        return nil
    }

    /// Removes the oldest delivery of a turn. The turn is over when none is left.
    private mutating func removeOldest(in turn: inout Turn) -> Delivery? {
        guard hasDelivery(before: turn.limit) else { return nil }
        let delivery = remove(first)
        turn.isOver = !hasDelivery(before: turn.limit)
        return delivery
    }

    private func hasDelivery(before number: UInt64) -> Bool { count > 0 && first.number < number }

    /// Removes the deliveries of a block that never runs. `releaseBlock` follows.
    mutating func drop(_ slot: DeliverySlot) -> [Delivery] {
        defer { checkInvariants() }
        guard isOfPresentTarget(slot.number) else { return [] }
        blockCount -= 1
        switch order {
        case .serial, .concurrent:
            return remove([slot])
        case .prioritized, .unplaced:
            return count > blockCount ? remove([first]) : []
        case .batch:
            return remove(slots.drop { $0.number < slot.number })
        }
    }

    mutating func removeAll() -> [Delivery] { remove(slots[...]) }

    private mutating func remove(_ slots: ArraySlice<DeliverySlot>) -> [Delivery] {
        defer { checkInvariants() }
        return slots.compactMap { remove($0) }
    }

    /// Empties a slot, if its delivery is still pending.
    @inline(__always)
    private mutating func remove(_ slot: DeliverySlot) -> Delivery? {
        guard let delivery = slot.delivery.take() else { return nil }
        count -= 1
        if slot.isLate {
            lateCount -= 1
        }
        removeEmptySlots()
        return delivery
    }

    @inline(__always)
    private mutating func removeEmptySlots() {
        while first != tail, first.delivery == nil, let newer = first.newer {
            let slot = first
            first = newer
            if !slot.hasBlock {
                free(slot)
            }
        }
    }

    /// Notes that the block of a slot has begun or is dropped.
    @inline(__always)
    mutating func releaseBlock(of slot: DeliverySlot) {
        slot.hasBlock = false
        slotsWithBlock -= 1
        let hasLeftList = slot.number < (isEmpty ? end : first.number)
        if hasLeftList {
            free(slot)
        }
    }

    /// Adds a slot behind the free ones.
    private mutating func free(_ slot: DeliverySlot) {
        slot.newer = nil
        lastFree.newer = slot
        lastFree = slot
        if isEmpty, slotsWithBlock == 0, chunks.count > SlotChunk.mostKept {
            trim()
        }
    }

    /// Deallocates the chunks that need not be kept. All slots are free.
    @inline(never)
    private mutating func trim() {
        while chunks.count > SlotChunk.mostKept { chunks.removeLast().deallocate() }
        for chunk in chunks { chunk.link() }
        first = chunks[0].first
        tail = first
        lastFree = chunks[0].last
        for chunk in chunks.dropFirst() { addFreeSlots(of: chunk) }
    }

    // MARK: Numbers

    /// Whether a number belongs to a block on the present target.
    func isOfPresentTarget(_ number: UInt64) -> Bool { number >= firstOnTarget }

    /// Allows blocks of later posts to make a delivery first, if the delivery is pending.
    mutating func markLate(_ slot: DeliverySlot) {
        guard slot.delivery != nil, !slot.isLate else { return }
        slot.isLate = true
        lateCount += 1
    }

    /// Moves the deliveries to another target (D6). Returns the slots for its blocks: one for each
    /// delivery, so that other work of the queue runs between the deliveries. With batching, one.
    mutating func move(to order: DeliveryOrder) -> [DeliverySlot] {
        defer { checkInvariants() }
        let moved = removeAll()
        self.order = order
        firstOnTarget = end
        blockCount = 0
        var blocks: [DeliverySlot] = []
        for delivery in moved {
            if let block = append(delivery, isLate: true) {
                blocks.append(block)
            }
        }
        return blocks
    }

    /// Checks the representation in debug builds; each slot only in a short list.
    @inline(__always)
    func checkInvariants() {
        #if DEBUG
        assert(firstOnTarget <= end && count <= bound.limit)
        assert(isEmpty != (first != tail), "an empty queue has no slots before the tail")
        assert(isEmpty || first.delivery != nil, "the first slot is never empty")
        assert(tail.delivery == nil && !tail.hasBlock && lastFree.newer == nil)
        assert(blockCount <= slotsWithBlock && (order != .batch || blockCount <= 1))
        if order == .prioritized || order == .unplaced {
            assert(blockCount >= count, "a delivery without a block is never made")
        }
        guard count <= checkedSize else { return }
        let slots = slots
        assert(slots.count == count)
        assert(slots.count { $0.isLate } == lateCount)
        assert(zip(slots, slots.dropFirst()).allSatisfy { $0.number < $1.number })
        #endif
    }
}

/// Memory of several slots.
/// SAFETY: the chunk belongs to one `DeliveryQueue`.
@safe private struct SlotChunk {
    /// A queue without deliveries and blocks keeps the first chunks: 252 slots, or 16 kB.
    static let mostKept = 6

    private let slots: UnsafeMutableBufferPointer<DeliverySlot.Memory>

    /// Makes free slots, linked in their order.
    init(capacity: Int, of mailbox: Unmanaged<Mailbox>) {
        let size = MemoryLayout<DeliverySlot.Memory>.stride
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: capacity * size, alignment: 64)
        unsafe slots = memory.bindMemory(to: DeliverySlot.Memory.self)
        let part = unsafe DeliverySlot.BlockPart(mailbox: mailbox)
        unsafe slots.initialize(repeating: DeliverySlot.Memory(blockPart: part))
        link()
    }

    func deallocate() {
        unsafe slots.deinitialize()
        unsafe slots.deallocate()
    }

    var capacity: Int { unsafe slots.count }
    var first: DeliverySlot { self[0] }
    var last: DeliverySlot { self[capacity - 1] }

    private subscript(index: Int) -> DeliverySlot {
        unsafe DeliverySlot(at: slots.baseAddress! + index)
    }

    /// Links all slots in their order.
    func link() {
        for index in 1..<capacity { self[index - 1].newer = self[index] }
        last.newer = nil
    }
}

/// A place in posting order, among the deliveries of all centers (D6, D9). The deliveries that one
/// `Post` makes share it.
struct PostNumber: Comparable, Sendable {
    private let number: UInt64

    private static let last = Atomic<UInt64>(0)

    static func next() -> PostNumber {
        PostNumber(number: last.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    static func < (one: PostNumber, other: PostNumber) -> Bool { one.number < other.number }
}

/// A notification that waits, as an object: a reference long, and shared by all observers of a
/// post.
/// SAFETY: the notification never changes. The notification passes from the posting thread to the
/// targets, as a user of Foundation's `queue:` expects.
final class StoredNotification: @unchecked Sendable {
    let notification: Notification

    init(_ notification: Notification) { self.notification = notification }
}
