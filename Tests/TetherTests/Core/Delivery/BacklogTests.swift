import Dispatch
import Foundation
import Testing
import Tether

/// The limit of an observer's pending deliveries.
@Suite(.ownThread) struct BacklogTests {
    private let center = ObserverCenter()
    private let scheduler = ManualScheduler()
    private let log = Log<Int>()

    @Test func `D8 D4 a post in a dropped payload's deinit is delivered behind the dropping post`()
    {
        let queue = DispatchQueue(label: "suspended")
        let bounded = center.observe(.other, on: .dispatchQueue(queue)) { [log] in
            log.add($0.number)
        }
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
        #expect(center.audit().map(\.dropped) == [2, 1])
    }

    @Test func `D8 R6 a dropped notification is released at once, with no lock held`() {
        let (center, ended) = (center, Log<Int>())
        let token = center.observe(.sample, on: .custom(scheduler)) { _ in }
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
}
