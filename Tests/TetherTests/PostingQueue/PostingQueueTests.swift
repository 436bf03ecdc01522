import Foundation
import XCTest

@testable import Tether

/// The queue on the main thread's run loop. The tests run the loop.
final class PostingQueueTests: XCTestCase {
    private let center = ObserverCenter()
    private let log = Log<String>()
    private var tokens: [NotificationObserver] = []

    private func observe(_ names: Notification.Name...) {
        for name in names {
            tokens.append(
                center.observe(name) { [log] notification in log.add(notification.label) })
        }
    }

    /// Runs the loop until nothing is left to wait for, or the log has so many entries.
    private func run(_ mode: RunLoop.Mode = .default, until count: Int) {
        RunLoop.current.run(mode, until: { [log] in log.entries.count >= count })
    }

    private func notification(_ name: Notification.Name, _ label: String, object: Any? = nil)
        -> Notification
    {
        .labelled(label, name: name, object: object)
    }

    /// Q1: each style in its place, first in first out within a style, asap before idle.
    func testQ1PostsKeepTheirOrderWithinAStyleAsapBeforeIdle() {
        observe(.sample)
        let queue = PostingQueue(notificationCenter: center)
        for (label, style) in [
            ("i1", PostingQueue.PostingStyle.whenIdle), ("a1", .asap), ("i2", .whenIdle),
            ("a2", .asap),
        ] {
            queue.enqueue(notification(.sample, label), postingStyle: style, coalesceMask: .none)
        }
        queue.enqueue(notification(.sample, "now"), postingStyle: .now, coalesceMask: .none)
        XCTAssertEqual(log.entries, ["now"])
        run(until: 5)
        XCTAssertEqual(log.entries, ["now", "a1", "a2", "i1", "i2"])
    }

    /// Q3: every mask, with objects, values and no sender.
    func testQ3AMaskRemovesTheEqualNotifications() {
        observe(.sample, .other)
        let queue = PostingQueue(notificationCenter: center)
        let object = NSObject()
        func fill() {
            queue.enqueue(notification(.sample, "s-nil"), postingStyle: .asap, coalesceMask: .none)
            queue.enqueue(
                notification(.sample, "s-object", object: object), postingStyle: .asap,
                coalesceMask: .none)
            queue.enqueue(
                notification(.sample, "s-value", object: "value"), postingStyle: .asap,
                coalesceMask: .none)
            queue.enqueue(
                notification(.other, "o-nil"), postingStyle: .whenIdle, coalesceMask: .none)
            queue.enqueue(
                notification(.other, "o-value", object: "value"), postingStyle: .whenIdle,
                coalesceMask: .none)
        }
        func left(after body: () -> Void) -> [String] {
            let before = log.entries.count
            fill()
            body()
            queue.flush()
            return Array(log.entries.dropFirst(before))
        }
        XCTAssertEqual(
            left {
                queue.enqueue(
                    notification(.sample, "new"), postingStyle: .asap, coalesceMask: .onName)
            },
            ["new", "o-nil", "o-value"])
        XCTAssertEqual(
            left {
                queue.enqueue(
                    notification(.sample, "new"), postingStyle: .asap, coalesceMask: .onSender)
            },
            ["s-object", "s-value", "new", "o-value"])
        XCTAssertEqual(
            left {
                queue.enqueue(
                    notification(.sample, "new", object: "value"), postingStyle: .whenIdle,
                    coalesceMask: .onSender)
            },
            ["s-nil", "s-object", "o-nil", "new"])
        XCTAssertEqual(
            left {
                // By default on name and sender.
                queue.enqueue(notification(.sample, "new", object: object), postingStyle: .asap)
            },
            ["s-nil", "s-value", "new", "o-nil", "o-value"])
        XCTAssertEqual(
            left {
                queue.enqueue(
                    notification(.sample, "new"), postingStyle: .asap, coalesceMask: .none)
            },
            ["s-nil", "s-object", "s-value", "new", "o-nil", "o-value"])
        // `.now` also removes notifications by coalescing, and is itself never removed.
        XCTAssertEqual(
            left {
                queue.enqueue(
                    notification(.sample, "now"), postingStyle: .now, coalesceMask: .onName)
                queue.enqueue(
                    notification(.sample, "now"), postingStyle: .now, coalesceMask: .onName)
            },
            ["now", "now", "o-nil", "o-value"])
    }

    /// Q4: dequeueing by the same masks; an empty mask dequeues exactly the given notification.
    func testQ4AnEmptyMaskDequeuesExactlyThatNotification() {
        observe(.sample, .other)
        let queue = PostingQueue(notificationCenter: center)
        let first = notification(.sample, "first")
        let second = notification(.sample, "second")
        queue.enqueue(first, postingStyle: .asap, coalesceMask: .none)
        queue.enqueue(second, postingStyle: .whenIdle, coalesceMask: .none)
        queue.enqueue(notification(.other, "other"), postingStyle: .asap, coalesceMask: .none)
        queue.dequeueNotifications(matching: second, coalesceMask: .none)
        queue.flush()
        XCTAssertEqual(log.entries, ["first", "other"])
        queue.enqueue(first, postingStyle: .asap, coalesceMask: .none)
        queue.enqueue(second, postingStyle: .whenIdle, coalesceMask: .none)
        queue.enqueue(notification(.other, "other"), postingStyle: .asap, coalesceMask: .none)
        queue.dequeueNotifications(matching: notification(.sample, "any"), coalesceMask: .onName)
        queue.flush()
        XCTAssertEqual(log.entries, ["first", "other", "other"])
        queue.enqueue(first, postingStyle: .asap, coalesceMask: .none)
        queue.dequeueNotifications(matching: Notification(name: .other), coalesceMask: .onSender)
        queue.flush()
        XCTAssertEqual(log.entries, ["first", "other", "other"])
        XCTAssertTrue(center.audit().waitingPosts.isEmpty)
    }

    /// Q5: in a listed mode only; `.common` means the common modes; the default is the default
    /// mode.
    func testQ5APostWaitsForAListedMode() {
        observe(.sample)
        let queue = PostingQueue(notificationCenter: center)
        let custom = RunLoop.Mode("PostingQueueTests.custom")
        queue.enqueue(
            notification(.sample, "custom"), postingStyle: .asap, coalesceMask: .none,
            forModes: [custom])
        queue.enqueue(
            notification(.sample, "common"), postingStyle: .whenIdle, coalesceMask: .none,
            forModes: [.common])
        queue.enqueue(
            notification(.sample, "default"), postingStyle: .whenIdle, coalesceMask: .none)
        queue.enqueue(
            notification(.sample, "both"), postingStyle: .whenIdle, coalesceMask: .none,
            forModes: [custom, .default])
        run(until: 3)
        XCTAssertEqual(log.entries, ["common", "default", "both"])
        XCTAssertEqual(
            center.audit().waitingPosts, [.init(place: "the main thread", asap: 1, whenIdle: 0)])
        run(custom, until: 4)
        XCTAssertEqual(log.entries, ["common", "default", "both", "custom"])
    }

    /// Q5: `.now` outside a listed mode posts nothing; the default mode is a common mode; where no
    /// loop is running, `.now` posts.
    func testQ5NowPostsNothingOutsideAListedMode() {
        observe(.sample)
        let queue = PostingQueue(notificationCenter: center)
        let custom = RunLoop.Mode("PostingQueueTests.custom")
        for mode in [custom, .default] {
            let isDone = Log<Bool>()
            RunLoop.current.perform(inModes: [mode]) {
                for listed in [RunLoop.Mode.default, .common, custom] {
                    queue.enqueue(
                        .labelled(listed.rawValue), postingStyle: .now, forModes: [listed])
                }
                isDone.add(true)
            }
            let timer = Timer(fire: Date(timeIntervalSinceNow: 60), interval: 0, repeats: false) {
                _ in
            }
            RunLoop.current.add(timer, forMode: mode)
            // In short passes, because a performed block does not end a pass.
            while isDone.entries.isEmpty,
                RunLoop.current.run(mode: mode, before: Date(timeIntervalSinceNow: 0.01))
            {}
            timer.invalidate()
        }
        queue.enqueue(notification(.sample, "not running"), postingStyle: .now)
        XCTAssertEqual(log.entries, [custom, .default, .common].map(\.rawValue) + ["not running"])
    }

    /// Q6: enqueueing, dequeueing and posting inside a handler. Notifications enqueued there are
    /// posted in a later pass.
    func testQ6WhatAHandlerEnqueuesIsPostedInALaterPass() {
        let queue = PostingQueue(notificationCenter: center)
        tokens.append(
            center.observe(.sample) { [log, center] notification in
                log.add(notification.label)
                guard notification.label == "first" else { return }
                queue.enqueue(
                    Notification(name: .sample, object: nil, userInfo: ["label": "again"]),
                    postingStyle: .asap,
                    coalesceMask: .none)
                queue.dequeueNotifications(
                    matching: Notification(name: .sample, object: "dropped"),
                    coalesceMask: .onSender)
                center.post(name: .sample, object: nil, userInfo: ["label": "posted"])
            })
        queue.enqueue(notification(.sample, "first"), postingStyle: .asap, coalesceMask: .none)
        queue.enqueue(
            notification(.sample, "dropped", object: "dropped"), postingStyle: .asap,
            coalesceMask: .none)
        queue.enqueue(notification(.sample, "idle"), postingStyle: .whenIdle, coalesceMask: .none)
        run(until: 4)
        XCTAssertEqual(log.entries, ["first", "posted", "again", "idle"])
    }

    /// Q6: a handler that enqueues itself for ever does not delay the loop's timers.
    func testQ6SelfEnqueueingDoesNotStarveTheLoop() {
        for style in [PostingQueue.PostingStyle.asap, .whenIdle] {
            let queue = PostingQueue(notificationCenter: center)
            let token = center.observe(.sample) { [log] notification in
                log.add("round")
                // A queue that posted in the same pass would never return to the loop.
                guard log.entries.count < 100_000 else {
                    return XCTFail("\(style) posts starve the loop")
                }
                queue.enqueue(notification, postingStyle: style)
            }
            queue.enqueue(notification(.sample, "round"), postingStyle: style)
            let fired = Log<Bool>()
            let timer = Timer(fire: Date(timeIntervalSinceNow: 0.01), interval: 0, repeats: false) {
                _ in
                fired.add(true)
            }
            RunLoop.current.add(timer, forMode: .default)
            RunLoop.current.run(.default, until: { !fired.entries.isEmpty })
            XCTAssertEqual(fired.entries, [true], "\(style)")
            XCTAssertGreaterThan(log.entries.count, 1)
            token.cancel()
            queue.flush()
        }
    }

    /// Q8: flush posts all waiting notifications, in order, in every mode.
    func testQ8FlushPostsEverythingInOrder() {
        observe(.sample)
        let queue = PostingQueue(notificationCenter: center)
        queue.enqueue(notification(.sample, "idle"), postingStyle: .whenIdle, coalesceMask: .none)
        queue.enqueue(
            notification(.sample, "asap"), postingStyle: .asap, coalesceMask: .none,
            forModes: [RunLoop.Mode("never")])
        queue.flush()
        XCTAssertEqual(log.entries, ["asap", "idle"])
    }

    /// X3: a notification is kept for later without an object whose end has begun.
    func testX3AnEndingObjectIsNotKeptForLater() {
        final class Ending {
            let queue: PostingQueue
            init(_ queue: PostingQueue) { self.queue = queue }
            deinit { queue.enqueue(Notification(name: .sample, object: self), postingStyle: .asap) }
        }
        let queue = PostingQueue(notificationCenter: center)
        tokens.append(
            center.observe(.sample) { [log] in log.add($0.object == nil ? "no object" : "an object")
            })
        // Those of other ended objects, and those of no object, are not the same sender's (Q3).
        for _ in 0..<2 { _ = Ending(queue) }
        queue.enqueue(Notification(name: .sample), postingStyle: .asap)
        _ = Ending(queue)
        run(until: 4)
        XCTAssertEqual(log.entries, Array(repeating: "no object", count: 4))
        // On the name alone they coalesce as any other.
        for _ in 0..<2 { _ = Ending(queue) }
        queue.enqueue(Notification(name: .sample), postingStyle: .asap, coalesceMask: .onName)
        run(until: 5)
        XCTAssertEqual(log.entries.count, 5)
    }
}
