import Dispatch
import Foundation
import Testing
import Tether

/// The limit of an observer's pending deliveries.
@Suite(.ownThread) struct BacklogTests {
    private let center = ObserverCenter()
    private let scheduler = ManualScheduler()
    private let log = Log<Int>()

    private func observe(
        _ name: Notification.Name = .sample, on target: DeliveryTarget? = nil, once: Bool = false
    ) -> NotificationObserver {
        center.observe(name, on: target ?? .custom(scheduler), once: once) { [log] in
            log.add($0.number)
        }
    }

    private var counts: [[Int]] { center.audit().map { [$0.pending, $0.dropped] } }

    @Test func `D8 a backlog of the oldest drops and counts new notifications`() {
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

    @Test func `D8 a bound set later drops at once, and without a bound everything waits`() {
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

    @Test func `D8 D4 a post in a dropped payload's deinit is delivered behind the dropping post`()
    {
        let queue = DispatchQueue(label: "suspended")
        let bounded = observe(.other, on: .dispatchQueue(queue))
        bounded.backlog = .newest(1)
        let plain = center.observe(nil, on: .dispatchQueue(queue)) { [log] in log.add($0.number) }
        plain.mute()
        queue.suspend()
        center.post(
            name: .other, object: nil,
            userInfo: ["payload": Ending { [center] in center.post(.sample, number: 3) }])
        plain.unmute()
        center.post(.other, number: 2)
        bounded.cancel()
        queue.resume()
        queue.sync {}
        #expect(log.entries == [2, 3])
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `D8 a connected method and a handler of messages take a backlog`() {
        final class Screen: Sendable {
            let log: Log<Int>

            init(_ log: Log<Int>) { self.log = log }

            func changed(_ notification: Notification) { log.add(notification.number) }
        }
        let screen = Screen(log)
        center.connect(
            .sample, to: Screen.changed, of: screen, on: .custom(scheduler), backlog: .newest(1))
        center.observe(
            for: .didSave, owner: screen, on: .custom(scheduler), backlog: .oldest(1)
        ) { [log] _, message in
            log.add(-message.number)
        }
        center.post(.sample, numbers: 1...3)
        for number in 4...5 { center.post(AlbumDidSave(number: number)) }
        scheduler.runAll()
        #expect(log.entries == [3, -4])
        #expect(counts == [[0, 2], [0, 1]])
    }

    @Test func `D8 D9 a token says how many deliveries its observer has dropped`() {
        let token = observe()
        #expect(token.droppedCount == 0)
        token.backlog = .newest(1)
        center.post(.sample, numbers: 1...3)
        #expect(token.droppedCount == 2)
        token.muted { center.post(.sample, number: 4) }
        #expect(token.droppedCount == 3)
        token.cancel()
        #expect(token.droppedCount == 0)
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

    @Test func `D8 R6 a dropped notification is released at once, with no lock held`() {
        let (center, ended) = (center, Log<Int>())
        let token = observe()
        let box = Box<NotificationObserver?>(token)
        func payload(_ number: Int) -> Ending {
            Ending {
                ended.add(number)
                // Each takes the lock of the pending deliveries.
                box.value?.backlog = .newest(1)
                _ = center.audit()
                center.post(.sample, number: 100 + number)
            }
        }
        token.backlog = .newest(2)
        for number in 1...2 { center.post(name: .sample, object: payload(number)) }
        #expect(ended.entries == [])
        center.post(name: .sample, object: nil)
        // The end of the first drops the second, and the end of the second drops the third.
        #expect(ended.entries.sorted() == [1, 2])
        #expect(center.audit().map(\.pending) == [1])
        box.set(nil)
    }

    @Test func `D8 a backlog that is given at the registration bounds posts before the next line`()
    {
        let (log, owner, queue) = (log, Plain(), DispatchQueue(label: "suspended"))
        queue.suspend()
        let tokens = [
            center.observe(.sample, on: .custom(scheduler), backlog: .newest(1)) {
                log.add($0.number)
            },
            center.observe(.sample, owner: owner, on: .custom(scheduler), backlog: .oldest(1)) {
                log.add(-$1.number)
            },
            center.observe(.sample, owner: owner, on: .dispatchQueue(queue), backlog: .newest(2)) {
                _, _ in
            },
            center.observe(.sample, backlog: .newest(3)) { _ in },
        ]
        #expect(tokens.map(\.backlog) == [.newest(1), .oldest(1), .newest(2), .newest(3)])
        center.post(.sample, numbers: 1...3)
        #expect(
            center.audit().map(\.pending) == [1, 1, 2, 0]
                && center.audit().map(\.dropped) == [2, 2, 1, 0])
        scheduler.runAll()
        #expect(log.entries.sorted() == [-1, 3])
        queue.resume()
        withExtendedLifetime((owner, tokens)) {}
    }
}
