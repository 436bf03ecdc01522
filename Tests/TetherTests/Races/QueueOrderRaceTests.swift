import Foundation
import Testing

@testable import Tether

extension Races {
    /// Several threads post, and each enqueues a block after its post.
    @Suite struct QueueOrderRaceTests {
        private struct Fixture: Sendable {
            private let center = ObserverCenter()
            private let queue = DispatchQueue(label: "serial")
            private let operations: OperationQueue?
            private let log = Log<Int>()
            private let early = Counter()
            private let token: NotificationObserver

            init(isOperationQueue: Bool) {
                operations = isOperationQueue ? .serial() : nil
                let target =
                    operations.map { DeliveryTarget.operationQueue($0) } ?? .dispatchQueue(queue)
                token = center.observe(.sample, on: target) { [log] in log.add($0.number) }
            }

            func postAndPut(_ numbers: Range<Int>) {
                for number in numbers {
                    center.post(.sample, number: number)
                    let block = { @Sendable [log, early] in
                        if !log.entries.contains(number) { early.add() }
                    }
                    if let operations {
                        operations.addOperation(block)
                    } else {
                        queue.async(execute: block)
                    }
                }
            }

            func verify() throws {
                if let operations { operations.settle() } else { queue.settle() }
                try require(
                    early.count == 0,
                    "\(early.count) blocks came before what was posted before them.")
                try require(log.entries.count == 12, "Delivered \(log.entries).")
                token.cancel()
            }
        }

        @Test(arguments: [false, true])
        func
            `D4 a thread's work on a queue runs after the thread's earlier posts, beside posts of other threads`(
                isOperationQueue: Bool
            )
            throws
        {
            try race(
                rounds: isOperationQueue ? 100 : 300,
                setUp: { _ in Fixture(isOperationQueue: isOperationQueue) },
                { $0.postAndPut(0..<4) },
                { $0.postAndPut(100..<104) },
                { $0.postAndPut(200..<204) },
                check: { try $0.verify() })
        }
    }
}
