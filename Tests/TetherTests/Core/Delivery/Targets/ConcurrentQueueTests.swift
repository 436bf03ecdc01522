import Dispatch
import Foundation
import Testing
import Tether

@Suite(.ownThread) struct ConcurrentQueueTests {
    /// Counts how many run at once.
    private final class Overlap: Sendable {
        private let state = Locked((running: 0, most: 0))

        var most: Int { state.withLock(\.most) }

        func run(_ body: () -> Void) {
            state.withLock { state in
                state.running += 1
                state.most = max(state.most, state.running)
            }
            body()
            state.withLock { $0.running -= 1 }
        }
    }

    private static let targets: [@Sendable () -> DeliveryTarget] = [
        {
            .dispatchQueue(
                DispatchQueue(label: "concurrent", attributes: .concurrent), concurrently: true)
        },
        { .dispatchQueue(.global()) },
        { .dispatchQueue(.global(qos: .utility)) },
        { .operationQueue(OperationQueue()) },
    ]

    @Test func `D4 blocks that a concurrent queue runs out of order deliver in posting order`() {
        let (center, queue, log) = (ObserverCenter(), OperationQueue(), Log<Int>())
        queue.isSuspended = true
        let token = center.observe(.sample, on: .operationQueue(queue)) { log.add($0.number) }
        center.post(.sample, numbers: 1...2)
        queue.operations[0].addDependency(queue.operations[1])
        queue.isSuspended = false
        queue.settle()
        #expect(log.entries == [1, 2])
        withExtendedLifetime(token) {}
    }

    @Test(arguments: CenterKind.allCases, targets.indices)
    func `F1 D4 on a concurrent target an observer's calls are in order, never two at once`(
        kind: CenterKind, index: Int
    ) {
        let center = kind.makeCenter()
        let overlap = Overlap()
        let log = Log<Int>()
        let isDone = Gate()
        let token = center.observe(.sample, on: ConcurrentQueueTests.targets[index]()) {
            notification in
            overlap.run {
                log.add(notification.number)
                sched_yield()
            }
            if notification.number == 500 { isDone.open() }
        }
        for number in 1...500 { center.post(.sample, number: number) }
        isDone.pass()
        token.cancelAndWait()
        #expect(overlap.most == 1)
        #expect(log.entries == Array(1...500))
    }

    @Test(arguments: targets.indices)
    func `D4 on a concurrent target one observer's handler does not hold another's up`(_ index: Int)
    {
        let center = ObserverCenter()
        let target = ConcurrentQueueTests.targets[index]()
        let secondRan = Gate()
        let firstRan = Gate()
        let first = center.observe(.sample, on: target) { _ in
            secondRan.pass()
            firstRan.open()
        }
        let second = center.observe(.sample, on: target) { _ in secondRan.open() }
        center.post(.sample, number: 1)
        firstRan.pass()
        first.cancelAndWait()
        second.cancelAndWait()
    }

    @Test(arguments: [true, false])
    func `D2 an operation queue's width is read when the queue becomes the target`(
        isSwitched: Bool
    ) {
        let (center, queue) = (ObserverCenter(), OperationQueue())
        queue.isSuspended = true
        let target = DeliveryTarget.operationQueue(queue)
        queue.maxConcurrentOperationCount = 1
        let tokens = (0..<2).map { _ in
            center.observe(.sample, on: isSwitched ? .postingThread : target) { _ in }
        }
        if isSwitched { for token in tokens { token.target = target } }
        center.post(.sample, number: 1)
        // One block for both observers, as on any serial queue.
        #expect(queue.operationCount == 1)
        queue.isSuspended = false
        queue.settle()
        withExtendedLifetime(tokens) {}
    }

    @Test func `D6 D7 a switch to batching on the same queue and back takes effect at once`() {
        let (center, queue, log) = (ObserverCenter(), OperationQueue.serial(), Log<Int>())
        queue.isSuspended = true
        let token = center.observe(.sample, on: .operationQueue(queue)) { log.add($0.number) }
        center.post(.sample, numbers: 1...2)
        #expect(queue.operationCount == 2)
        token.target = .operationQueue(queue, batching: true)
        let atSwitch = queue.operationCount
        center.post(.sample, numbers: 3...4)
        #expect(queue.operationCount == atSwitch)
        token.target = .operationQueue(queue)
        let atReturn = queue.operationCount
        center.post(.sample, numbers: 5...6)
        #expect(queue.operationCount == atReturn + 2)
        queue.isSuspended = false
        queue.settle()
        #expect(log.entries == Array(1...6))
        withExtendedLifetime(token) {}
    }
}
