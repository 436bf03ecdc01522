import Dispatch
import Foundation
import Testing
import Tether

/// How much may wait for one observer.
@Suite(.ownThread) struct BacklogTests {
    private let center = ObserverCenter()
    private let scheduler = ManualScheduler()
    private let log = Log<Int>()

    private func observe(
        _ name: Notification.Name = .sample, on target: DeliveryTarget? = nil, once: Bool = false
    ) -> NotificationObserver {
        center.observe(name, on: target ?? .custom(scheduler), once: once) { [log] in log.add($0.number) }
    }

    private var counts: [[Int]] { center.audit().map { [$0.pending, $0.dropped] } }

    @Test func `D8 a backlog is unbounded unless it is set`() {
        let token = observe()
        #expect(token.backlog == .unbounded)
        center.post(.sample, numbers: 1...2000)
        #expect(counts == [[2000, 0]])
        scheduler.runAll()
        #expect(log.entries == Array(1...2000))
    }

    @Test(arguments: [1, 2, 10]) func `D8 the n newest wait, in order, and what is dropped is counted`(n: Int) {
        let token = observe()
        token.backlog = .newest(n)
        #expect(token.backlog == .newest(n))
        center.post(.sample, numbers: 1...100)
        #expect(counts == [[n, 100 - n]])
        scheduler.runAll()
        #expect(log.entries == Array((101 - n)...100))
        center.post(.sample, number: 101)
        scheduler.runAll()
        #expect(log.entries == Array((101 - n)...101))
        #expect(counts == [[0, 100 - n]])
    }

    @Test func `D8 up to the bound nothing is dropped`() {
        let token = observe()
        token.backlog = .newest(3)
        center.post(.sample, numbers: 1...3)
        #expect(counts == [[3, 0]])
        scheduler.runAll()
        center.post(.sample, numbers: 4...6)
        scheduler.runAll()
        #expect(log.entries == [1, 2, 3, 4, 5, 6])
        #expect(counts == [[0, 0]])
        withExtendedLifetime(token) {}
    }

    @Test func `D8 a backlog of the oldest drops what is new, and counts it`() {
        let token = observe()
        token.backlog = .oldest(3)
        center.post(.sample, numbers: 1...5)
        #expect(counts == [[3, 2]])
        scheduler.runAll()
        center.post(.sample, numbers: 6...7)
        scheduler.runAll()
        #expect(log.entries == [1, 2, 3, 6, 7])
        #expect(counts == [[0, 2]])
        #expect(scheduler.scheduled == 5)
        withExtendedLifetime(token) {}
    }

    @Test func `D8 D6 a bound of the oldest that is set later drops the newest at once, also while a switch waits`() {
        let token = observe()
        center.post(.sample, numbers: 1...10)
        token.backlog = .oldest(4)
        #expect(counts == [[4, 6]])
        token.target = .postingThread
        token.backlog = .oldest(2)
        #expect(counts == [[2, 8]])
        scheduler.runAll()
        #expect(log.entries == [1, 2])
        center.post(.sample, number: 11)
        #expect(log.entries == [1, 2, 11])
    }

    @Test func `D8 a backlog is one observer's, not its target's`() {
        let tokens = [observe(), observe(), observe(.other)]
        tokens[0].backlog = .newest(1)
        center.post(.sample, numbers: 1...3)
        center.post(.other, numbers: 11...12)
        #expect(counts == [[1, 2], [3, 0], [2, 0]])
        scheduler.runAll()
        // D4: what is left stays in posting order.
        #expect(log.entries == [1, 2, 3, 3, 11, 12])
        withExtendedLifetime(tokens) {}
    }

    @Test func `D8 a bound that is set later drops at once, and one that is lifted lets everything wait`() {
        let token = observe()
        center.post(.sample, numbers: 1...10)
        token.backlog = .newest(4)
        #expect(counts == [[4, 6]])
        token.backlog = .newest(1)
        #expect(counts == [[1, 9]])
        token.backlog = .unbounded
        center.post(.sample, numbers: 11...13)
        scheduler.runAll()
        #expect(log.entries == [10, 11, 12, 13])
    }

    @Test func `D8 what a running handler posts to itself is bounded too, and does not count the one that runs`() {
        let (center, log) = (center, log)
        let token = center.observe(.sample, on: .custom(scheduler)) { notification in
            log.add(notification.number)
            if notification.number == 0 { center.post(.sample, numbers: 1...5) }
        }
        token.backlog = .newest(2)
        center.post(.sample, number: 0)
        scheduler.runAll()
        #expect(log.entries == [0, 4, 5])
        #expect(counts == [[0, 3]])
    }

    @Test func `D8 D1 on the poster a backlog bounds nothing while nothing waits`() {
        let token = observe(on: .postingThread)
        token.backlog = .newest(1)
        center.post(.sample, numbers: 1...5)
        #expect(log.entries == [1, 2, 3, 4, 5])
        #expect(counts == [[0, 0]])
        #expect(token.backlog == .newest(1))
    }

    @Test func `D8 D6 a backlog stays when the target is switched, and what waits moves`() {
        let second = ManualScheduler()
        let token = observe(on: .postingThread)
        token.backlog = .newest(2)
        token.target = .custom(scheduler)
        center.post(.sample, numbers: 1...4)
        token.target = .custom(second)
        center.post(.sample, number: 5)
        #expect(counts == [[2, 3]])
        scheduler.runAll()
        #expect(log.entries == [])
        second.runAll()
        #expect(log.entries == [4, 5])
    }

    @Test func `D8 R7 a once observer's first delivery is not displaced by later posts`() {
        let token = observe(once: true)
        token.backlog = .newest(1)
        center.post(.sample, numbers: 1...3)
        #expect(counts == [[1, 0]])
        scheduler.runAll()
        #expect(log.entries == [1])
        #expect(!token.isActive)
    }

    @Test func `D8 every kind of queue is bounded`() {
        let serial = DispatchQueue(label: "serial")
        let operations = OperationQueue()
        let gate = Gate()
        let tokens = [
            observe(on: .dispatchQueue(serial)), observe(on: .dispatchQueue(serial, concurrently: true)),
            observe(on: .operationQueue(operations)),
        ]
        for token in tokens { token.backlog = .newest(1) }
        operations.isSuspended = true
        serial.async { gate.pass() }
        center.post(.sample, numbers: 1...3)
        #expect(counts == [[1, 2], [1, 2], [1, 2]])
        gate.open()
        operations.isSuspended = false
        serial.settle()
        operations.settle()
        #expect(log.entries == [3, 3, 3])
        withExtendedLifetime(tokens) {}
    }

    @Test func `D8 R6 what is dropped is let go at once, with no lock held`() {
        let (center, ended) = (center, Log<Int>())
        let token = observe()
        let box = Box<NotificationObserver?>(token)
        func payload(_ number: Int) -> Ending {
            Ending {
                ended.add(number)
                // Each takes the inbox's or the mailbox's lock.
                box.value?.backlog = .newest(1)
                _ = center.audit()
                center.post(.sample, number: 100 + number)
            }
        }
        token.backlog = .newest(2)
        for number in 1...2 { center.post(name: .sample, object: payload(number)) }
        #expect(ended.entries == [])
        center.post(name: .sample, object: nil)
        // The first one's end has the second one dropped, and that one's end the third.
        #expect(ended.entries.sorted() == [1, 2])
        #expect(center.audit().map(\.pending) == [1])
        box.set(nil)
    }

    @Test func `D8 R8 stopping drops what waits, whatever the bound, and a stopped observer has none`() {
        let ended = Counter()
        let token = observe()
        token.backlog = .newest(5)
        for _ in 1...5 { center.post(name: .sample, object: Ending { ended.add() }) }
        token.cancel()
        #expect(ended.count == 5)
        token.backlog = .newest(1)
        #expect(token.backlog == .unbounded)
    }

    @Test func `D8 a property keeps its backlog from one handler to the next`() {
        let (log, property) = (log, NotificationObserver(center: center))
        property.backlog = .newest(1)
        for sign in [1, -1] {
            property.observe(.sample, on: .custom(scheduler)) { log.add(sign * $0.number) }
            center.post(.sample, numbers: 1...3)
            #expect(counts == [[1, 2]])
        }
        #expect(property.backlog == .newest(1))
        scheduler.runAll()
        property.backlog = .newest(2)
        center.post(.sample, numbers: 4...6)
        scheduler.runAll()
        #expect(log.entries == [-3, -5, -6])
    }
}
