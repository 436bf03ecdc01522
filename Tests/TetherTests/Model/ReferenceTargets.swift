/// The model of a target: blocks, which run in the order in which they were submitted (D2, D4).
final class ReferenceScheduler {
    let description: String
    let isLoop: Bool
    let isBatching: Bool
    private var blocks: [ReferenceBlock] = []
    /// How many blocks the run loop has for these.
    private var turns = 0
    private var isClosed = false

    init(at place: Int) {
        description = LibraryWorld.targets[place]
        isLoop = place == Places.loop
        isBatching = place == Places.batching
    }

    /// D3, D5: every post is made on the thread of the run loop.
    var isCurrent: Bool { isLoop && !isClosed }

    fileprivate func submit(_ block: ReferenceBlock) {
        if isClosed { return block.cancel() }
        blocks.append(block)
        turns += 1
    }

    /// Runs the blocks that wait now.
    func run() {
        if !isLoop {
            for block in blocks.takeAll() { block.run() }
            return
        }
        // A run of the loop comes to its blocks twice. Each is for the oldest of these, also in a nested run.
        for _ in 0..<2 {
            var count = turns
            turns = 0
            while count > 0, !blocks.isEmpty {
                count -= 1
                blocks.removeFirst().run()
            }
        }
    }

    /// Cancels the blocks that wait; a run loop takes no more (D2, D5).
    func cancel() {
        isClosed = isLoop
        for block in blocks.takeAll() { block.cancel() }
    }
}

/// What one post delivers on one target.
private final class ReferenceBlock {
    let target: ReferenceScheduler
    var entries: [(observer: ReferenceObserver, number: Int)] = []

    init(on target: ReferenceScheduler) {
        self.target = target
    }

    func run() { for entry in entries { entry.observer.deliver(entry.number) } }
    func cancel() { for entry in entries { entry.observer.drop(entry.number) } }
}

/// The blocks of one post, in the order in which it reached their targets.
struct ReferenceBlocks {
    private var blocks: [ReferenceBlock] = []
    private var released: [ReferenceNotification] = []

    mutating func add(_ observer: ReferenceObserver, _ number: Int, on target: ReferenceScheduler?) {
        guard let target else { return }
        if !blocks.contains(where: { $0.target === target }) { blocks.append(ReferenceBlock(on: target)) }
        blocks.first { $0.target === target }?.entries.append((observer, number))
    }

    /// Has a notification that was dropped released behind the blocks.
    mutating func release(_ notification: ReferenceNotification?) { released += [notification].compactMap(\.self) }

    func submit() {
        for block in blocks { block.target.submit(block) }
        for notification in released { notification.release() }
    }
}

extension Array {
    fileprivate mutating func takeAll() -> [Element] {
        defer { removeAll() }
        return self
    }
}
