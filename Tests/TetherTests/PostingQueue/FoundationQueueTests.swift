import Foundation
import XCTest

@testable import Tether

/// What Foundation's `NotificationQueue` gets wrong on Linux, each a test that ours does not.
final class FoundationQueueTests: XCTestCase {
    private let center = ObserverCenter()
    private let log = Log<String>()
    private var tokens: [NotificationObserver] = []

    override func setUp() {
        tokens.append(center.observe(.sample) { [log] in log.add($0.label) })
    }

    private func run(_ mode: RunLoop.Mode = .default, until count: Int) {
        RunLoop.current.run(mode, until: { [log] in log.entries.count >= count })
    }

    /// Q1: there, several posts go out in reverse order, and idle ones before asap ones.
    func testQ1PostsGoOutInOrderAndAsapBeforeIdle() {
        let queue = PostingQueue(center: center)
        for number in 1...3 { queue.enqueue(.labelled("idle \(number)"), postingStyle: .whenIdle, coalesceMask: .none) }
        for number in 1...3 { queue.enqueue(.labelled("asap \(number)"), postingStyle: .asap, coalesceMask: .none) }
        run(until: 6)
        XCTAssertEqual(log.entries, ["asap 1", "asap 2", "asap 3", "idle 1", "idle 2", "idle 3"])
    }

    /// Q6: there, enqueueing or dequeueing inside a handler aborts the process.
    func testQ6HandlersMayEnqueueAndDequeue() {
        let queue = PostingQueue(center: center)
        tokens.append(
            center.observe(.other) { _ in
                queue.dequeueNotifications(matching: .labelled("", object: "dequeued"), coalesceMask: .onSender)
                queue.enqueue(.labelled("enqueued"), postingStyle: .asap, coalesceMask: .none)
            })
        queue.enqueue(.labelled("", name: .other), postingStyle: .asap, coalesceMask: .none)
        queue.enqueue(.labelled("dequeued", object: "dequeued"), postingStyle: .asap, coalesceMask: .none)
        queue.enqueue(.labelled("left"), postingStyle: .asap, coalesceMask: .none)
        run(until: 2)
        XCTAssertEqual(log.entries, ["left", "enqueued"])
    }

    /// Q5: there, what is enqueued for the common modes or a mode of one's own is never posted.
    func testQ5CommonAndCustomModesPost() {
        let queue = PostingQueue(center: center)
        let custom = RunLoop.Mode("FoundationQueueTests.custom")
        queue.enqueue(.labelled("common"), postingStyle: .asap, coalesceMask: .none, forModes: [.common])
        run(until: 1)
        queue.enqueue(.labelled("custom"), postingStyle: .whenIdle, coalesceMask: .none, forModes: [custom])
        run(custom, until: 2)
        XCTAssertEqual(log.entries, ["common", "custom"])
    }

    /// Q7: there, a whenIdle post that a perform block or an asap handler enqueued is stuck until the next wake-up.
    func testQ7WhenIdleNeedsNoFurtherWakeUp() {
        let queue = PostingQueue(center: center)
        tokens.append(
            center.observe(.other) { _ in
                queue.enqueue(.labelled("from asap"), postingStyle: .whenIdle, coalesceMask: .none)
            })
        RunLoop.current.perform {
            queue.enqueue(.labelled("from perform"), postingStyle: .whenIdle, coalesceMask: .none)
        }
        queue.enqueue(.labelled("", name: .other), postingStyle: .asap, coalesceMask: .none)
        run(until: 2)
        XCTAssertEqual(log.entries.sorted(), ["from asap", "from perform"])
    }

    /// Q2: there, a queue that one thread made and another uses posts on the wrong thread, and is never freed.
    func testQ2QueueUsedByAnotherThreadPostsOnItsOwnAndGoes() {
        weak var queue: PostingQueue?
        do {
            let made = PostingQueue(center: center)
            queue = made
            let threads = Log<Bool>()
            tokens.append(center.observe(.other) { _ in threads.add(Thread.isMainThread) })
            Thread.detachNewThread { made.enqueue(.labelled("", name: .other), postingStyle: .asap) }
            RunLoop.current.run(.default, until: { !threads.entries.isEmpty })
            XCTAssertEqual(threads.entries, [true])
        }
        // The other thread may still be giving its reference back.
        let limit = Date(timeIntervalSinceNow: 30)
        while queue != nil, limit.timeIntervalSinceNow > 0 { sched_yield() }
        XCTAssertNil(queue)
    }

    /// Q3, Q4: there, values and plain class instances as senders never coalesce, and cannot be dequeued.
    func testQ3ValuesAndPlainObjectsCoalesceAndDequeue() {
        final class Plain: Sendable {}
        let queue = PostingQueue(center: center)
        let senders: [Any] = ["text", 7, Plain()]
        for (number, sender) in senders.enumerated() {
            queue.enqueue(.labelled("old \(number)", object: sender), postingStyle: .asap)
            queue.enqueue(.labelled("new \(number)", object: sender), postingStyle: .asap)
        }
        queue.dequeueNotifications(matching: .labelled("", object: 7), coalesceMask: [.onName, .onSender])
        queue.flush()
        XCTAssertEqual(log.entries, ["new 0", "new 2"])
    }
}
