import Dispatch
import Foundation
import Testing
import Tether

@Suite(.ownThread) struct DeliveryOrderTests {
    /// A serial target, and what runs all that is pending there.
    private struct Serial: Sendable {
        let target: DeliveryTarget
        let run: @Sendable () -> Void
    }

    private static let targets: [@Sendable () -> Serial] = [
        {
            let scheduler = ManualScheduler()
            return Serial(target: .custom(scheduler)) { scheduler.runAll() }
        },
        {
            let queue = DispatchQueue(label: "serial")
            return Serial(target: .dispatchQueue(queue)) { queue.settle() }
        },
        {
            let queue = OperationQueue.serial()
            return Serial(target: .operationQueue(queue)) { queue.settle() }
        },
    ]

    @Test(arguments: [false, true])
    func `D4 what is put on a queue after a post runs after its handlers, also while a drain runs`(
        isOperationQueue: Bool
    ) {
        let (center, operations) = (ObserverCenter(), OperationQueue.serial())
        let queue = DispatchQueue(label: "serial")
        let (log, isRunning, mayGoOn) = (Log<String>(), Gate(), Gate())
        let token = center.observe(.sample, on: isOperationQueue ? .operationQueue(operations) : .dispatchQueue(queue))
        {
            notification in
            log.add("\(notification.number)")
            if notification.number == 1 {
                isRunning.open()
                mayGoOn.pass()
            }
        }
        let put = { (_ name: String) in
            if isOperationQueue {
                operations.addOperation { log.add(name) }
            } else {
                queue.async { log.add(name) }
            }
        }
        center.post(.sample, number: 1)
        isRunning.pass()
        put("before")
        center.post(.sample, number: 2)
        put("behind")
        mayGoOn.open()
        if isOperationQueue { operations.settle() } else { queue.settle() }
        #expect(log.entries == ["1", "before", "2", "behind"])
        withExtendedLifetime(token) {}
    }

    @Test(arguments: targets.indices)
    func `D4 deliveries of different observers on one serial target run in posting order`(_ index: Int) {
        let serial = DeliveryOrderTests.targets[index]()
        let center = ObserverCenter()
        let log = Log<String>()
        let tokens = [
            center.observe(.sample, on: serial.target) { log.add("open\($0.number)") },
            center.observe(.other, on: serial.target) { log.add("close\($0.number)") },
        ]
        for number in 1...2 {
            center.post(.sample, number: number)
            center.post(.other, number: number)
        }
        serial.run()
        #expect(log.entries == ["open1", "close1", "open2", "close2"])
        withExtendedLifetime(tokens) {}
    }

    @Test(arguments: targets.indices)
    func `D4 M3 one post's deliveries run in registration order, wildcards included`(_ index: Int) {
        let serial = DeliveryOrderTests.targets[index]()
        let center = ObserverCenter()
        let sender = Ending {}
        let log = Log<String>()
        let tokens = [
            center.observe(nil, on: serial.target) { log.add("any\($0.number)") },
            center.observe(.sample, from: sender, on: serial.target) { log.add("sender\($0.number)") },
            center.observe(.sample, on: serial.target) { log.add("name\($0.number)") },
            center.observe(nil, from: sender, on: serial.target) { log.add("all of sender\($0.number)") },
        ]
        for number in 1...2 {
            center.post(name: .sample, object: sender, userInfo: ["number": number])
        }
        serial.run()
        #expect(
            log.entries
                == [1, 2].flatMap { ["any\($0)", "sender\($0)", "name\($0)", "all of sender\($0)"] })
        withExtendedLifetime((tokens, sender)) {}
    }

    @Test(arguments: targets.indices)
    func `D4 several centers on one serial target share its order`(_ index: Int) {
        let serial = DeliveryOrderTests.targets[index]()
        let centers = (0..<3).map { _ in ObserverCenter() }
        let log = Log<String>()
        let tokens = centers.enumerated().map { place, center in
            center.observe(.sample, on: serial.target) { log.add("\(place):\($0.number)") }
        }
        for number in 1...2 {
            for center in centers { center.post(.sample, number: number) }
        }
        serial.run()
        #expect(log.entries == ["0:1", "1:1", "2:1", "0:2", "1:2", "2:2"])
        withExtendedLifetime((tokens, centers)) {}
    }

    @Test(arguments: targets.indices)
    func `D4 M3 a post made by a handler of the posting thread comes after the deliveries of the post that called it`(
        _ index: Int
    ) {
        let serial = DeliveryOrderTests.targets[index]()
        let center = ObserverCenter()
        let log = Log<String>()
        let tokens = [
            center.observe(.sample) { [weak center] notification in
                center?.post(.other, number: notification.number)
            },
            center.observe(.sample, on: serial.target) { log.add("sample\($0.number)") },
            center.observe(.other, on: serial.target) { log.add("other\($0.number)") },
        ]
        center.post(.sample, numbers: 1...2)
        serial.run()
        #expect(log.entries == ["sample1", "other1", "sample2", "other2"])
        withExtendedLifetime(tokens) {}
    }

    @Test(arguments: targets.indices)
    func `D4 each of several posters keeps its own order across all observers`(_ index: Int) {
        let serial = DeliveryOrderTests.targets[index]()
        let center = ObserverCenter()
        let log = Log<String>()
        let tokens = [
            center.observe(.sample, on: serial.target) { log.add("a\($0.number)") },
            center.observe(.sample, on: serial.target) { log.add("b\($0.number)") },
        ]
        onThreads(
            (0..<3).map { poster in
                { center.post(.sample, numbers: (1...100).map { poster * 1000 + $0 }) }
            })
        serial.run()
        let entries = log.entries
        #expect(entries.count == 600)
        for poster in 0..<3 {
            let own = entries.filter { (Int($0.dropFirst()) ?? 0) / 1000 == poster }
            #expect(own == (1...100).flatMap { ["a\(poster * 1000 + $0)", "b\(poster * 1000 + $0)"] })
        }
        withExtendedLifetime(tokens) {}
    }

    @Test func `D4 a dispatch queue has one order however it was reached`() {
        let center = ObserverCenter()
        let queue = DispatchQueue(label: "one order")
        let log = Log<String>()
        let first = center.observe(.sample, on: .dispatchQueue(queue)) { log.add("first\($0.number)") }
        let second = center.observe(.sample) { _ in }
        second.target = .dispatchQueue(queue)
        let third = center.observe(.sample, on: .postingThread) { log.add("third\($0.number)") }
        third.target = .dispatchQueue(queue)
        queue.suspend()
        center.post(.sample, numbers: 1...2)
        queue.resume()
        queue.settle()
        #expect(log.entries == ["first1", "third1", "first2", "third2"])
        withExtendedLifetime((first, second, third)) {}
    }
}
