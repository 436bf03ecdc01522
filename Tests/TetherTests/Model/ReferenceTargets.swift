/// One post on its way to one observer: a line in the list of a target.
final class ReferenceDelivery {
    let observer: ReferenceObserver
    let notification: ReferenceNotification
    private(set) var stage = Stage.pending
    /// Whether another block may make it before its own block does (D4): its own block has begun,
    /// or a switch or an unmuting put it here.
    fileprivate(set) var placeHasCome = false
    /// The deliveries to the observer that waited on the target when this one came.
    fileprivate var earlier: [ReferenceDelivery] = []

    enum Stage {
        case pending
        case made
        case dropped
    }

    init(of notification: ReferenceNotification, to observer: ReferenceObserver) {
        self.notification = notification
        self.observer = observer
    }

    /// Takes it from the list of its target.
    func leave(_ target: ReferenceTarget, as stage: Stage) {
        self.stage = stage
        target.deliveries.removeAll { $0 === self }
        observer.world.pending.removeAll { $0 === self }
    }
}

/// A block that a post puts on a target, with a delivery for each of its observers there (D2).
final class ReferenceBlock {
    fileprivate var deliveries: [ReferenceDelivery] = []

    func begin() {
        for delivery in deliveries { delivery.placeHasCome = true }
        while let delivery = deliveries.popFirst() { delivery.observer.begin(delivery) }
    }

    func cancel() {
        while let delivery = deliveries.popFirst() { delivery.observer.cancel(delivery) }
    }
}

/// The model of a target: a list of pending deliveries and a list of waiting blocks, both in the
/// order in which they came.
final class ReferenceTarget {
    enum Kind {
        /// One block runs after the other.
        case serial
        /// Blocks begin in any order (D2, D4).
        case concurrent
        /// A serial one, where one block makes all waiting deliveries of an observer (D7).
        case batching
        /// A serial one that runs each block at once, inside of the post.
        case immediate
        /// The run loop of the thread that makes all posts (D5).
        case loop
    }

    let kind: Kind
    let description: String
    fileprivate(set) var deliveries: [ReferenceDelivery] = []
    /// The blocks that posts under way are about to put here.
    fileprivate var announced: [ReferenceBlock] = []
    private var waiting: [ReferenceBlock] = []
    /// The blocks that run, each in a handler of the one before.
    private var running: [ReferenceBlock] = []
    /// How many of its blocks the run loop was asked to run.
    private var asked = 0
    private var isClosed = false

    init(at place: Int) {
        kind = Places.kinds[place]
        description = LibraryWorld.targets[place]
    }

    /// Of one observer, in posting order.
    func deliveries(of observer: ReferenceObserver) -> [ReferenceDelivery] {
        deliveries.filter { $0.observer === observer }
    }

    /// How many blocks wait, where the library can be asked; 0 with batching. A batching target
    /// that an observer left and got again inside its handler may have a block more than D7 needs.
    var count: Int { kind == .loop || kind == .batching ? 0 : waiting.count }

    /// Whether it is a user's scheduler, and no queue.
    var isScheduler: Bool { kind != .loop && kind != .concurrent }

    /// D3, D5: whether posts are made where it runs its blocks.
    var isCurrent: Bool { kind == .loop && !isClosed }

    // MARK: Blocks (D2)

    func hasBlock(of observer: ReferenceObserver) -> Bool {
        blocks.contains { block in
            block.deliveries.contains { $0.observer === observer }
        }
    }

    private var blocks: [ReferenceBlock] { announced + waiting + running }

    fileprivate func put(_ block: ReferenceBlock) {
        announced.removeAll { $0 === block }
        if isClosed { return block.cancel() }
        if kind == .immediate { return run(block) }
        waiting.append(block)
        asked += 1
    }

    private func run(_ block: ReferenceBlock) {
        running.append(block)
        block.begin()
        running.removeLast()
    }

    /// Adds a delivery behind all that waits.
    func take(_ delivery: ReferenceDelivery) {
        delivery.earlier = deliveries(of: delivery.observer)
        deliveries.append(delivery)
    }

    /// D6, D9: adds a delivery that has come from another target, or that an unmuting makes.
    /// Nothing is reordered for one observer, so on a serial target no later delivery overtakes it.
    func takeOlder(_ delivery: ReferenceDelivery) {
        delivery.placeHasCome = true
        take(delivery)
    }

    /// D6: the blocks of an observer that has left do nothing more for it.
    func leave(_ observer: ReferenceObserver) {
        deliveries.removeAll { $0.observer === observer }
        for block in blocks { block.deliveries.removeAll { $0.observer === observer } }
    }

    // MARK: The rules of order (D4)

    /// The deliveries that a block makes when it begins.
    func due(at delivery: ReferenceDelivery) -> [ReferenceDelivery] {
        let pending = deliveries(of: delivery.observer)
        switch kind {
        case .batching: return pending
        case .concurrent:
            // In posting order, and none before its place. What follows the block finds the earlier
            // deliveries made, also if the block's own was dropped.
            let reached = delivery.earlier + [delivery]
            return pending.filter { due in reached.contains { $0 === due } }
        case .serial, .immediate, .loop:
            // The earlier of two posts is handled first, also if its block has begun and waits for
            // a handler that runs the loop. So it is if the block's own delivery was dropped.
            return pending.filter { due in
                due === delivery
                    || due.placeHasCome && delivery.earlier.contains { $0 === due }
            }
        }
    }

    /// The deliveries that are dropped with a block that was cancelled before it began (D2).
    func lost(at delivery: ReferenceDelivery) -> [ReferenceDelivery] {
        if kind == .batching { return deliveries(of: delivery.observer) }
        return delivery.stage == .pending ? [delivery] : []
    }

    // MARK: Running

    /// Runs the blocks that wait now. Inside of a block, the run continues with the blocks of the
    /// outer run.
    func run() {
        guard kind == .loop else { return runOldest(waiting.count) }
        // A run of the loop comes to its blocks twice.
        for _ in 0..<2 {
            let count = asked
            asked = 0
            runOldest(count)
        }
    }

    private func runOldest(_ count: Int) {
        for _ in 0..<count {
            if let block = takeBlock(newest: false) { run(block) }
        }
    }

    /// Runs the oldest block that waits, or on a concurrent target the newest.
    func runOne(newest: Bool) {
        guard kind != .loop, let block = takeBlock(newest: newest && kind == .concurrent) else {
            return
        }
        run(block)
    }

    /// D2: cancels one block before it begins.
    func cancelOne(newest: Bool) {
        if kind != .loop { takeBlock(newest: newest)?.cancel() }
    }

    private func takeBlock(newest: Bool) -> ReferenceBlock? {
        newest ? waiting.popLast() : waiting.popFirst()
    }

    /// Cancels the blocks that wait; a run loop takes no more (D2, D5).
    func cancel() {
        isClosed = kind == .loop
        var cancelled = waiting
        waiting = []
        while let block = cancelled.popFirst() { block.cancel() }
    }
}

/// The blocks of one post, in the order in which the post reached their targets, and the
/// notifications that bounds drop meanwhile.
struct ReferenceSubmission {
    private var blocks: [(target: ReferenceTarget, block: ReferenceBlock)] = []
    private var released: [ReferenceNotification] = []

    /// D2: one block for each target, on a concurrent one for each observer.
    mutating func add(_ delivery: ReferenceDelivery, on target: ReferenceTarget) {
        if target.kind != .concurrent,
            let shared = blocks.first(where: { $0.target === target })
        {
            shared.block.deliveries.append(delivery)
        } else {
            addBlock(of: delivery, on: target)
        }
    }

    mutating func addBlock(of delivery: ReferenceDelivery, on target: ReferenceTarget) {
        let block = ReferenceBlock()
        block.deliveries = [delivery]
        target.announced.append(block)
        blocks.append((target, block))
    }

    /// Has a notification that was dropped released behind the blocks (R6).
    mutating func release(_ notification: ReferenceNotification?) {
        if let notification { released.append(notification) }
    }

    /// M3: all blocks are submitted before the first handler is called, but for schedulers, which
    /// may run a block at once (D2).
    func submit() {
        for (target, block) in blocks where !target.isScheduler { target.put(block) }
        for notification in released { notification.release() }
        for (target, block) in blocks where target.isScheduler { target.put(block) }
    }
}

extension Array {
    fileprivate mutating func popFirst() -> Element? { isEmpty ? nil : removeFirst() }
}
