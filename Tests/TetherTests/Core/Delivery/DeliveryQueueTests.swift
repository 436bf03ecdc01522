import Foundation
import Testing

@testable import Tether

extension DeliveryOrder {
    fileprivate static let all: [DeliveryOrder] = [
        .serial, .concurrent, .prioritized, .unplaced, .batch,
    ]
}

/// The pending deliveries of an observer, as a value, without targets and locks.
@Suite struct DeliveryQueueTests {
    private static func delivery(_ number: Int) -> DeliveryQueue.Delivery {
        let notification = Notification(name: .sample, object: nil, userInfo: ["number": number])
        return DeliveryQueue.Delivery(
            stored: StoredNotification(notification), postNumber: .next(), waitsSince: nil)
    }

    private static func number(of delivery: DeliveryQueue.Delivery) -> Int {
        delivery.stored.notification.userInfo?["number"] as? Int ?? 0
    }

    /// A queue with its requested blocks.
    private final class Subject {
        var queue: DeliveryQueue
        /// The numbers of the blocks on the present target that have neither run nor been dropped.
        var blocks: [UInt64] = []
        /// The slots of all such blocks, on all targets so far.
        private var slots: [UInt64: DeliverySlot] = [:]
        var dropped: [Int] = []
        private(set) var posted = 0
        /// In place of the mailbox, at which a queue does not look.
        private let owner = NSObject()

        init(_ order: DeliveryOrder) {
            let owner = unsafe Unmanaged.passUnretained(owner).toOpaque()
            queue = unsafe DeliveryQueue(order, of: .fromOpaque(owner))
        }

        deinit {
            _ = queue.removeAll()
            for slot in slots.values { queue.releaseBlock(of: slot) }
        }

        private func add(_ slot: DeliverySlot) {
            blocks.append(slot.number)
            slots[slot.number] = slot
        }

        /// The slot of a block that runs or is dropped now; `nil` if the block has done so before.
        private func take(_ block: UInt64) -> DeliverySlot? {
            blocks.removeAll { $0 == block }
            return slots.removeValue(forKey: block)
        }

        func post(_ count: Int = 1, isLate: Bool = false) {
            for _ in 0..<count {
                posted += 1
                if queue.refusesNext {
                    dropped.append(posted)
                    continue
                }
                if let oldest = queue.makeRoom() { dropped.append(number(of: oldest)) }
                if let slot = queue.append(delivery(posted), isLate: isLate) { add(slot) }
            }
        }

        /// Runs a block, and returns its deliveries.
        func run(_ block: UInt64) -> [Int] {
            guard let slot = take(block) else { return [] }
            guard queue.isOfPresentTarget(block) else {
                queue.releaseBlock(of: slot)
                return []
            }
            var turn = queue.begin(slot)
            var delivered: [Int] = []
            while !turn.isOver, let next = queue.takeNext(in: &turn) {
                delivered.append(number(of: next))
            }
            return delivered
        }

        func runAll() -> [Int] { blocks.flatMap { run($0) } }

        /// Drops a block, and returns its deliveries.
        func drop(_ block: UInt64) -> [Int] {
            guard let slot = take(block) else { return [] }
            let dropped = queue.drop(slot).map { number(of: $0) }
            queue.releaseBlock(of: slot)
            return dropped
        }

        func markLate(_ block: UInt64) {
            if let slot = slots[block] { queue.markLate(slot) }
        }

        func move(to order: DeliveryOrder) {
            blocks = []
            for slot in queue.move(to: order) { add(slot) }
        }

        func setBound(_ bound: BufferingPolicy) -> [Int] {
            queue.setBound(bound).map { number(of: $0) }
        }

        /// Performs a body with a list of slots that ends at a block's. A search from the oldest
        /// delivery on then finds none behind the block.
        func withoutSlots(behind block: UInt64, _ body: () -> Void) {
            let slot = slots[block]!
            let newer = slot.newer.take()
            body()
            slot.newer = newer
        }

        var isEmpty: Bool { queue.isEmpty }
        var pending: [Int] { queue.deliveries.map { number(of: $0) } }
        var capacity: Int { queue.capacity }
    }

    @Test func `D4 a serial block delivers its own number alone`() {
        let subject = Subject(.serial)
        subject.post(3)
        #expect(subject.run(2) == [2])
        #expect(subject.run(1) == [1])
        #expect(subject.run(3) == [3])
        #expect(subject.isEmpty)
    }

    /// With a search, n deliveries behind a block that is held back would take n² steps.
    @Test func `D4 a serial block finds its delivery without a search from the oldest on`() {
        let subject = Subject(.serial)
        subject.post(100)
        // Not up to the last: debug builds look through a short list.
        let found: ClosedRange<UInt64> = 2...60
        subject.withoutSlots(behind: 1) {
            for block in found { #expect(subject.run(block) == [Int(block)]) }
        }
        #expect(subject.runAll().count == 1 + 40)
    }

    @Test func `D6 a serial block delivers the moved deliveries before its own`() {
        let subject = Subject(.serial)
        subject.post(2)
        let stale = subject.blocks
        subject.move(to: .serial)
        subject.post()
        let blocks = subject.blocks
        #expect(subject.run(blocks[2]) == [1, 2, 3])
        #expect((stale + blocks).flatMap { subject.run($0) } == [])
    }

    @Test func `D4 only a late delivery is made by a later block`() {
        let subject = Subject(.serial)
        subject.post(3)
        subject.markLate(2)
        #expect(subject.run(3) == [2, 3])
        #expect(subject.run(2) == [])
        #expect(subject.run(1) == [1])
    }

    @Test func `D4 a concurrent block delivers all up to its own place, and none behind`() {
        let subject = Subject(.concurrent)
        subject.post(4)
        #expect(subject.drop(2) == [2])
        #expect(subject.run(3) == [1, 3], "what follows block 3 is behind post 1, too")
        #expect(subject.run(1) == [])
        #expect(subject.run(4) == [4])
    }

    @Test func `D4 D8 a concurrent block whose delivery a bound dropped makes no later one`() {
        let subject = Subject(.concurrent)
        subject.post(3)
        #expect(subject.setBound(.newest(2)).count == 1)
        #expect(subject.run(1) == [], "block 1 may be before a barrier")
        #expect(subject.drop(2) == [2])
        #expect(subject.run(3) == [3])
    }

    @Test func `D2 D8 a cancelled concurrent block drops the delivery of its own post alone`() {
        let subject = Subject(.concurrent)
        subject.post(3)
        #expect(subject.setBound(.newest(2)).count == 1)
        #expect(subject.drop(1) == [], "the bound has dropped it")
        #expect(subject.run(3) == [2, 3])
        #expect(subject.drop(2) == [], "block 3 has made it")
    }

    @Test func `P2 a block of an actor delivers all up to its own post, in any order of blocks`() {
        let subject = Subject(.prioritized)
        subject.post(4)
        #expect(subject.run(3) == [1, 2, 3])
        #expect(subject.run(1) == [])
        subject.post()
        #expect(subject.run(5) == [4, 5], "block 2 may have a lower priority")
        #expect(subject.run(2) == [])
        #expect(subject.run(4) == [])
    }

    @Test(arguments: DeliveryOrder.all)
    func `D2 D6 a cancelled block on an earlier target drops nothing`(order: DeliveryOrder) {
        let subject = Subject(order)
        subject.post(2)
        let early = subject.blocks[0]
        subject.move(to: order)
        #expect(subject.drop(early) == [])
        #expect(subject.blocks.flatMap { subject.run($0) } == [1, 2])
    }

    @Test(arguments: [DeliveryOrder.prioritized, .unplaced])
    func `D8 a bounded order of tasks has one block for each delivery`(order: DeliveryOrder) {
        let subject = Subject(order)
        _ = subject.setBound(.newest(2))
        subject.post(100)
        #expect(subject.blocks == [1, 2])
        #expect(subject.run(2) == [99])
        subject.post(1)
        #expect(subject.blocks.count == 2)
        #expect(subject.run(1) == [100])
        #expect(subject.run(subject.blocks[0]) == [101])
    }

    @Test func `D7 a batch asks for one block, which makes all pending deliveries`() {
        let subject = Subject(.batch)
        subject.post(3)
        #expect(subject.blocks == [1])
        #expect(subject.run(1) == [1, 2, 3])
        subject.post(2)
        #expect(subject.blocks == [4])
        #expect(subject.drop(4) == [4, 5])
    }

    @Test(arguments: DeliveryOrder.all) func `M9 D6 a block that never runs keeps its slot alone`(
        order: DeliveryOrder
    ) {
        let subject = Subject(order)
        subject.post(100)
        subject.move(to: order)
        #expect(subject.runAll() == Array(1...100))
        for _ in 0..<1000 {
            subject.post(100)
            #expect(subject.runAll().count == 100)
        }
        #expect(subject.capacity <= 1024)
    }

    @Test(arguments: [100, 600, 1024, 10_000])
    func `M9 a queue keeps little memory when all is delivered`(count: Int) {
        let subject = Subject(.serial)
        subject.post(count)
        #expect(subject.runAll().count == count)
        subject.post()
        #expect(subject.runAll() == [count + 1])
        #expect(subject.capacity * MemoryLayout<DeliverySlot.Memory>.stride <= 16 << 10)
    }

    @Test func `D2 M9 a slot is a cache line`() {
        #expect(MemoryLayout<DeliverySlot.Memory>.stride == 64)
        #expect(
            MemoryLayout<DeliverySlot.Memory>.offset(of: \.blockPart)
                == MemoryLayout<DeliverySlot.Content>.size)
    }

    @Test func `D8 bounds drop the oldest or the newest`() {
        let subject = Subject(.serial)
        subject.post(5)
        #expect(subject.setBound(.oldest(3)).count == 2)
        subject.post()
        #expect(subject.pending == [1, 2, 3])
        #expect(subject.dropped == [6])
        #expect(subject.setBound(.newest(1)).count == 2)
        subject.post()
        #expect(subject.pending == [7])
    }

    /// A random run of each order: everything is delivered or dropped once, and every order but
    /// `serial` is posting order.
    @Test(arguments: DeliveryOrder.all) func `D4 D6 D8 random runs lose nothing and leave nothing`(
        order: DeliveryOrder
    ) {
        for _ in 0..<300 {
            let seed = UInt64.random(in: 0 ... .max)
            var random = SplitMix64(seed: seed)
            let subject = Subject(order)
            var gone: [Int] = []
            var delivered: [Int] = []
            for _ in 0..<40 {
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<4: subject.post(Int.random(in: 1...3, using: &random))
                case 4..<7:
                    if let block = subject.blocks.randomElement(using: &random) {
                        delivered += subject.run(block)
                    }
                case 7:
                    if let block = subject.blocks.randomElement(using: &random) {
                        gone += subject.drop(block)
                    }
                case 8:
                    let bound = Int.random(in: 1...5, using: &random)
                    gone += subject.setBound(
                        Bool.random(using: &random) ? .newest(bound) : .oldest(bound))
                default:
                    if Bool.random(using: &random) { subject.move(to: order) }
                }
            }
            for block in subject.blocks.shuffled(using: &random) { delivered += subject.run(block) }
            #expect(subject.isEmpty, "seed \(seed)")
            let all = delivered + gone + subject.dropped
            #expect(all.sorted() == Array(1..<subject.posted + 1), "seed \(seed)")
            if order != .serial { #expect(delivered == delivered.sorted(), "seed \(seed)") }
        }
    }
}
