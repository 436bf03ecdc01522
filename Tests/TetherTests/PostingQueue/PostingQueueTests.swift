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
}
