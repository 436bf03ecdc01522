import Dispatch
import Foundation
import Testing
import Tether

/// The switch to the posting thread takes effect when the observer has no pending deliveries.
@Suite(.ownThread) struct SwitchToPostingThreadTests {
    private let center = ObserverCenter()
    private let scheduler = ManualScheduler()
    private let log = Log<Int>()

    private func observe() -> NotificationObserver {
        center.observe(.sample, on: .custom(scheduler)) { [log] in log.add($0.number) }
    }

    @Test func `D6 a switch to the posting thread inside the handler waits for its return`() {
        let token = Box<NotificationObserver?>(nil)
        token.set(
            center.observe(.sample, on: .custom(scheduler)) { [log, center] notification in
                log.add(notification.number)
                if notification.number == 1 {
                    token.value?.target = .postingThread
                    center.post(.sample, number: 2)
                }
                log.add(-notification.number)
            })
        center.post(.sample, number: 1)
        scheduler.runAll()
        #expect(log.entries == [1, -1, 2, -2])
        center.post(.sample, number: 3)
        #expect(log.entries == [1, -1, 2, -2, 3, -3])
        token.set(nil)
    }

    @Test func `D6 the setter runs no handler and never waits, not even for a suspended queue`() {
        let queue = DispatchQueue(label: "suspended")
        let token = center.observe(.sample, on: .dispatchQueue(queue)) { [log] in log.add($0.number)
        }
        queue.suspend()
        center.post(.sample, number: 1)
        onThreads({ token.target = .postingThread })
        onThreads({ token.target = .dispatchQueue(queue) })
        #expect(log.entries == [])
        queue.resume()
        queue.settle()
        #expect(log.entries == [1])
    }
}
