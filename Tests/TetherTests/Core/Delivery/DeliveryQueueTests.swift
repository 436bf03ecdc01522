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
    private struct Subject {
        var queue: DeliveryQueue
        var blocks: [UInt64] = []
        var dropped: [Int] = []
        private(set) var posted = 0

        init(_ order: DeliveryOrder) { queue = DeliveryQueue(order) }

        mutating func post(_ count: Int = 1, isLate: Bool = false) {
            for _ in 0..<count {
                posted += 1
                let appended = queue.append(delivery(posted), isLate: isLate)
                if let loss = appended.dropped { dropped.append(number(of: loss)) }
                if let block = appended.block { blocks.append(block) }
            }
        }

        /// Runs a block, and returns its deliveries.
        mutating func run(_ block: UInt64) -> [Int] {
            blocks.removeAll { $0 == block }
            var turn = DeliveryQueue.Turn(block)
            var delivered: [Int] = []
            while !turn.isOver, let next = queue.takeNext(in: &turn) {
                delivered.append(number(of: next))
            }
            return delivered
        }

        /// Drops a block, and returns its deliveries.
        mutating func drop(_ block: UInt64) -> [Int] {
            blocks.removeAll { $0 == block }
            return queue.drop(block).map { number(of: $0) }
        }

        mutating func move(to order: DeliveryOrder) { blocks = Array(queue.move(to: order)) }

        var pending: [Int] { queue.deliveries.map { number(of: $0) } }
    }

    @Test func `D4 a serial block delivers its own number alone`() {
        var subject = Subject(.serial)
        subject.post(3)
        #expect(subject.run(2) == [2])
        #expect(subject.run(1) == [1])
        #expect(subject.run(3) == [3])
        #expect(subject.queue.isEmpty)
    }

    @Test func `D6 a serial block delivers the moved deliveries before its own`() {
        var subject = Subject(.serial)
        subject.post(2)
        let stale = subject.blocks
        subject.move(to: .serial)
        subject.post()
        let blocks = subject.blocks
        #expect(subject.run(blocks[2]) == [1, 2, 3])
        #expect((stale + blocks).flatMap { subject.run($0) } == [])
    }

    @Test func `D4 only a late delivery is made by a later block`() {
        var subject = Subject(.serial)
        subject.post(3)
        subject.queue.markLate(2)
        #expect(subject.run(3) == [2, 3])
        #expect(subject.run(2) == [])
        #expect(subject.run(1) == [1])
    }

    @Test func `D4 a concurrent block delivers all up to its own place, and none behind`() {
        var subject = Subject(.concurrent)
        subject.post(4)
        #expect(subject.drop(2) == [2])
        #expect(subject.run(3) == [1, 3], "what follows block 3 is behind post 1, too")
        #expect(subject.run(1) == [])
        #expect(subject.run(4) == [4])
    }

    @Test func `D4 D8 a concurrent block whose delivery a bound dropped makes no later one`() {
        var subject = Subject(.concurrent)
        subject.post(3)
        #expect(subject.queue.setBound(.newest(2)).count == 1)
        #expect(subject.run(1) == [], "block 1 may be before a barrier")
        #expect(subject.drop(2) == [2])
        #expect(subject.run(3) == [3])
    }

    @Test func `D2 D8 a cancelled concurrent block drops the delivery of its own post alone`() {
        var subject = Subject(.concurrent)
        subject.post(3)
        #expect(subject.queue.setBound(.newest(2)).count == 1)
        #expect(subject.drop(1) == [], "the bound has dropped it")
        #expect(subject.run(3) == [2, 3])
        #expect(subject.drop(2) == [], "block 3 has made it")
    }

    @Test func `P2 a block of an actor delivers all up to its own post, in any order of blocks`() {
        var subject = Subject(.prioritized)
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
        var subject = Subject(order)
        subject.post(2)
        let early = subject.blocks[0]
        subject.move(to: order)
        #expect(subject.drop(early) == [])
        #expect(subject.blocks.flatMap { subject.run($0) } == [1, 2])
    }

    @Test(arguments: [DeliveryOrder.prioritized, .unplaced])
    func `D8 a bounded order of tasks has one block for each delivery`(order: DeliveryOrder) {
        var subject = Subject(order)
        _ = subject.queue.setBound(.newest(2))
        subject.post(100)
        #expect(subject.blocks == [1, 2])
        #expect(subject.run(2) == [99])
        subject.post(1)
        #expect(subject.blocks.count == 2)
        #expect(subject.run(1) == [100])
        #expect(subject.run(subject.blocks[0]) == [101])
    }

    @Test func `D7 a batch asks for one block, which makes all pending deliveries`() {
        var subject = Subject(.batch)
        subject.post(3)
        #expect(subject.blocks == [1])
        #expect(subject.run(1) == [1, 2, 3])
        subject.post(2)
        #expect(subject.blocks == [4])
        #expect(subject.drop(4) == [4, 5])
    }

    @Test func `D8 bounds drop the oldest or the newest`() {
        var subject = Subject(.serial)
        subject.post(5)
        #expect(subject.queue.setBound(.oldest(3)).count == 2)
        subject.post()
        #expect(subject.pending == [1, 2, 3])
        #expect(subject.dropped == [6])
        #expect(subject.queue.setBound(.newest(1)).count == 2)
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
            var subject = Subject(order)
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
                    let dropped = subject.queue.setBound(
                        Bool.random(using: &random) ? .newest(bound) : .oldest(bound))
                    gone += dropped.map { Self.number(of: $0) }
                default:
                    if Bool.random(using: &random) { subject.move(to: order) }
                }
            }
            for block in subject.blocks.shuffled(using: &random) { delivered += subject.run(block) }
            #expect(subject.queue.isEmpty, "seed \(seed)")
            let all = delivered + gone + subject.dropped
            #expect(all.sorted() == Array(1..<subject.posted + 1), "seed \(seed)")
            if order != .serial { #expect(delivered == delivered.sorted(), "seed \(seed)") }
        }
    }
}
