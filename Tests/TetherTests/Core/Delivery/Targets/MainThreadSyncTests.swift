import Dispatch
import Foundation
import Testing
import Tether
import XCTest

/// All code of the main thread is on the main queue and the main actor, also the blocks of other
/// queues.
final class MainThreadSyncTests: XCTestCase {
    private let queue = DispatchQueue(label: "other")

    func testD3P1APostOnTheMainQueueIsDeliveredInline() {
        let (center, log) = (ObserverCenter(), Log<String>())
        let tokens = [
            center.observe(.sample, on: .main) { _ in log.add("main") },
            center.observe(.sample, on: .dispatchQueue(.main)) { _ in log.add("queue") },
            center.observe(.sample, on: .operationQueue(.main)) { _ in log.add("operations") },
            center.observe(.sample, on: .mainActor) { _ in log.add("actor") },
            center.observe(.sample, on: .thread(.mainThread)) { _ in log.add("thread") },
        ]
        let post = {
            center.post(.sample, number: 1)
            log.add("posted")
        }
        post()
        queue.sync(execute: post)
        let inline = ["main", "queue", "operations", "actor", "thread", "posted"]
        XCTAssertEqual(log.entries, inline + inline)
        withExtendedLifetime(tokens) {}
    }

    func testD3APostIsHandledBehindThePendingDeliveryOfAnotherObserver() {
        let (center, log) = (ObserverCenter(), Log<String>())
        let tokens = [
            center.observe(.other, on: .main) { _ in log.add("pending") },
            center.observe(.sample, on: .main) { _ in log.add("later") },
        ]
        JoinableThread { center.post(.other) }.join()
        center.post(.sample)
        XCTAssertEqual(log.entries, [])
        let deadline = Date(timeIntervalSinceNow: longestWait)
        while log.entries.count < 2, Date() < deadline {
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
        }
        XCTAssertEqual(log.entries, ["pending", "later"])
        withExtendedLifetime(tokens) {}
    }

    func testD3APendingDeliveryOfAnEndedObserverLeavesAPostInline() {
        let (center, log) = (ObserverCenter(), Log<String>())
        let token = center.observe(.other, on: .main) { _ in log.add("pending") }
        let inline = center.observe(.sample, on: .main) { _ in log.add("inline") }
        JoinableThread { center.post(.other) }.join()
        token.cancel()
        center.post(.sample)
        XCTAssertEqual(log.entries, ["inline"])
        withExtendedLifetime(inline) {}
    }

    func testQ2TheMainQueueHasTheMainThreadsPostingQueue() {
        let (center, log) = (ObserverCenter(), Log<String>())
        let token = center.observe(.sample) { _ in
            log.add(Thread.isMainThread ? "main thread" : "elsewhere")
        }
        XCTAssertTrue(queue.sync { PostingQueue.current } === PostingQueue.current)
        let made = queue.sync { PostingQueue(notificationCenter: center) }
        queue.sync { made.enqueue(Notification(name: .sample), postingStyle: .asap) }
        let deadline = Date(timeIntervalSinceNow: longestWait)
        while log.entries.isEmpty, Date() < deadline {
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
        }
        XCTAssertEqual(log.entries, ["main thread"])
        withExtendedLifetime(token) {}
    }
}
