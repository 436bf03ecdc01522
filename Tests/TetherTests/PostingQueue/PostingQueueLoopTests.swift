import CoreFoundation
import Foundation
import Testing
import Tether
import XCTest

/// The queue posts in callbacks of a run loop, and while such a callback runs the loop.
final class PostingQueueLoopTests: XCTestCase {
    private let center = ObserverCenter()
    private let log = Log<String>()
    private var tokens: [NotificationObserver] = []

    override func setUp() {
        tokens.append(center.observe(.sample) { [log] in log.add($0.label) })
    }

    private func run(_ mode: RunLoop.Mode = .default, until count: Int) {
        RunLoop.current.run(mode, until: { [log] in log.entries.count >= count })
    }

    /// Blocks of the main queue may retain a queue until they have run.
    private func runUntilFreed(_ queue: () -> PostingQueue?) {
        let limit = Date(timeIntervalSinceNow: longestWait)
        while queue() != nil, limit.timeIntervalSinceNow > 0 { RunLoop.Mode.default.run(for: 0) }
        XCTAssertNil(queue())
    }

    /// Q7: a whenIdle post needs no further event, for each kind of enqueueing callback.
    func testQ7WhenIdlePostsAreMadeAfterEveryKindOfCallout() {
        let queue = PostingQueue(notificationCenter: center)
        let enqueue: @Sendable (String) -> Void = { label in
            queue.enqueue(.labelled(label), postingStyle: .whenIdle, coalesceMask: .none)
        }
        // A timer.
        RunLoop.current.add(
            Timer(fire: Date(), interval: 0, repeats: false) { _ in enqueue("timer") },
            forMode: .default)
        run(until: 1)
        // A perform block, which wakes the loop.
        RunLoop.current.perform { enqueue("perform") }
        RunLoop.current.add(
            Timer(fire: Date(), interval: 0, repeats: false) { _ in }, forMode: .default)
        run(until: 2)
        // A block on the main queue.
        DispatchQueue.main.async { enqueue("main queue") }
        run(until: 3)
        // A source: another thread's post to the loop's thread.
        let target = center.observe(.other, on: .currentThread) { _ in enqueue("source") }
        Thread.detachNewThread { [center] in center.post(name: .other, object: nil) }
        run(until: 4)
        // A handler of an asap post, and one of a whenIdle post.
        let chain = center.observe(.chained) { enqueue($0.label) }
        queue.enqueue(.labelled("asap handler", name: .chained), postingStyle: .asap)
        run(until: 5)
        queue.enqueue(.labelled("idle handler", name: .chained), postingStyle: .whenIdle)
        run(until: 6)
        XCTAssertEqual(
            log.entries,
            ["timer", "perform", "main queue", "source", "asap handler", "idle handler"])
        withExtendedLifetime((target, chain)) {}
    }

    /// Q7: from another thread, while the loop sleeps.
    func testQ7EnqueueingElsewhereWakesASleepingLoop() {
        let queue = PostingQueue(notificationCenter: center)
        for (count, style) in [PostingQueue.PostingStyle.asap, .whenIdle].enumerated() {
            Thread.detachNewThread { queue.enqueue(.labelled("\(style)"), postingStyle: style) }
            run(until: count + 1)
        }
        XCTAssertEqual(log.entries, ["asap", "whenIdle"])
    }

    /// Q7: in a run that is nested in a timer's callout; the timer is due meanwhile.
    func testQ7ARunInsideATimerPostsWhenIdle() {
        let queue = PostingQueue(notificationCenter: center)
        let results = Log<CFRunLoopRunResult>()
        let stop = center.observe(.sample) { _ in CFRunLoopStop(CFRunLoopGetCurrent()) }
        let timer = Timer(fire: Date(), interval: 0, repeats: false) { _ in
            queue.enqueue(.labelled("idle"), postingStyle: .whenIdle)
            results.add(RunLoop.Mode.default.run(for: 10))
        }
        RunLoop.current.add(timer, forMode: .default)
        RunLoop.current.run(.default, until: { !results.entries.isEmpty })
        // In the run, because at the run's end a stop would be too late.
        XCTAssertEqual(results.entries, [.stopped])
        XCTAssertEqual(log.entries, ["idle"])
        withExtendedLifetime(stop) {}
    }

    /// Q7: at the end of a run with no time to wait, as in a polling program; then nothing stays
    /// with the loop.
    func testQ7ARunThatNeverWaitsPostsWhenIdleAtItsEnd() {
        func observerCount() -> Int {
            "\(CFRunLoopGetCurrent()!)".components(separatedBy: "<CFRunLoopObserver").count
        }
        let (queue, count) = (PostingQueue(notificationCenter: center), observerCount())
        for seconds in [CFTimeInterval(0), -1] {
            queue.enqueue(.labelled("idle"), postingStyle: .whenIdle)
            XCTAssertGreaterThan(observerCount(), count)
            RunLoop.Mode.default.run(for: seconds)
        }
        XCTAssertEqual(log.entries, ["idle", "idle"])
        XCTAssertEqual(observerCount(), count)
    }

    /// Q5, Q6: a handler runs the loop in another mode, where the queue posts too.
    func testQ5Q6AHandlersRunInAnotherModePostsThere() {
        let queue = PostingQueue(notificationCenter: center)
        let custom = RunLoop.Mode("PostingQueueLoopTests.custom")
        let nesting = center.observe(.chained) { [log] _ in
            log.add("begin")
            queue.enqueue(.labelled("default"), postingStyle: .asap, coalesceMask: .none)
            queue.enqueue(
                .labelled("custom"), postingStyle: .asap, coalesceMask: .none, forModes: [custom])
            queue.enqueue(
                .labelled("custom idle"), postingStyle: .whenIdle, coalesceMask: .none,
                forModes: [custom])
            RunLoop.current.run(custom, until: { log.entries.contains("custom idle") })
            log.add("end")
        }
        queue.enqueue(.labelled("", name: .chained), postingStyle: .whenIdle)
        run(until: 5)
        XCTAssertEqual(log.entries, ["begin", "custom", "custom idle", "end", "default"])
        withExtendedLifetime(nesting) {}
    }

    /// Q6: a handler runs the loop again. The nested run posts the waiting notifications, and the
    /// notifications of the handler.
    func testQ6AHandlersRunInTheSameModePostsWhatWaits() {
        let queue = PostingQueue(notificationCenter: center)
        let nesting = center.observe(.chained) { [log] _ in
            log.add("begin")
            RunLoop.current.run(.default, until: { log.entries.contains("next") })
            queue.enqueue(.labelled("inner"), postingStyle: .whenIdle, coalesceMask: .none)
            RunLoop.current.run(.default, until: { log.entries.contains("inner") })
            log.add("end")
        }
        queue.enqueue(.labelled("", name: .chained), postingStyle: .asap)
        queue.enqueue(.labelled("next"), postingStyle: .asap)
        run(until: 4)
        XCTAssertEqual(log.entries, ["begin", "next", "inner", "end"])
        withExtendedLifetime(nesting) {}
    }

    /// Q1, Q2: a queue's hold on the loop is distinguished from another queue's, and from a source
    /// of the program.
    func testQ1Q2ALoopOfTwoQueuesEndsAfterBoth() {
        let done = expectation(description: "the thread's loop has ended")
        let (center, log) = (center, log)
        Thread.detachNewThread {
            let (first, second) = (
                PostingQueue(notificationCenter: center), PostingQueue(notificationCenter: center)
            )
            let token = center.observe(.other) { _ in
                second.enqueue(
                    .labelled("second"), postingStyle: .whenIdle, coalesceMask: .none,
                    forModes: [.default])
            }
            for _ in 1...2 {
                first.enqueue(
                    Notification(name: .other), postingStyle: .whenIdle, coalesceMask: .none,
                    forModes: [.default])
            }
            RunLoop.current.run()
            log.add("ended")
            var context = unsafe CFRunLoopSourceContext()
            let own: CFRunLoopSource = unsafe CFRunLoopSourceCreate(nil, 0, &context)
            let mode: CFRunLoopMode = RunLoop.Mode.default.cfMode
            CFRunLoopAddSource(CFRunLoopGetCurrent(), own, mode)
            first.enqueue(.labelled("first"), postingStyle: .whenIdle)
            RunLoop.current.run(.default, until: { log.entries.count == 4 })
            if CFRunLoopContainsSource(CFRunLoopGetCurrent(), own, mode) { log.add("own source") }
            withExtendedLifetime((token, first, second)) {}
            done.fulfill()
        }
        wait(for: [done], timeout: longestWait)
        XCTAssertEqual(log.entries, ["second", "second", "ended", "first", "own source"])
    }

    /// Q2: waiting notifications of a queue without references are posted, and then the queue is
    /// deallocated.
    func testQ2AQueueWithoutOtherReferencesPostsAndIsFreed() {
        weak var queue: PostingQueue?
        do {
            let made = PostingQueue(notificationCenter: center)
            queue = made
            for (label, style) in [("idle", PostingQueue.PostingStyle.whenIdle), ("asap", .asap)] {
                made.enqueue(.labelled(label), postingStyle: style, coalesceMask: .none)
            }
        }
        run(until: 2)
        let serial = DispatchQueue(label: "PostingQueueLoopTests.serial")
        PostingQueue(notificationCenter: center, queue: serial).enqueue(
            .labelled("queue"), postingStyle: .whenIdle)
        for _ in 0..<2 { serial.sync {} }
        XCTAssertEqual(log.entries, ["asap", "idle", "queue"])
        runUntilFreed { queue }
        XCTAssertEqual(center.audit().droppedPosts, 0)
    }

    /// Q2, R10: a queue without waiting notifications is deallocated in passes of the loop, also if
    /// another thread removed the notifications.
    func testQ2R10AnEmptiedQueueIsFreed() {
        for isRemovedHere in [true, false] {
            weak var queue: PostingQueue?
            do {
                let made = PostingQueue(notificationCenter: center)
                queue = made
                made.enqueue(.labelled("removed"), postingStyle: .asap)
                let remove: @Sendable () -> Void = {
                    made.dequeueNotifications(matching: .labelled("removed"), coalesceMask: .onName)
                }
                if isRemovedHere { remove() } else { JoinableThread(remove).join() }
            }
            runUntilFreed { queue }
        }
        XCTAssertEqual(log.entries, [])
    }

    /// Q8: a queue bound to a dispatch queue posts there, asap before idle, and needs no run loop.
    func testQ8AQueueBoundToADispatchQueuePostsThere() {
        let serial = DispatchQueue(label: "PostingQueueLoopTests.serial")
        let queue = PostingQueue(notificationCenter: center, queue: serial)
        let done = expectation(description: "posted")
        tokens.append(
            center.observe(.other) { _ in
                dispatchPrecondition(condition: .onQueue(serial))
                done.fulfill()
            })
        serial.sync {
            queue.enqueue(.labelled("idle"), postingStyle: .whenIdle, coalesceMask: .none)
            queue.enqueue(.labelled("asap"), postingStyle: .asap, coalesceMask: .none)
            queue.enqueue(
                .labelled("last", name: .other), postingStyle: .whenIdle, coalesceMask: .none)
        }
        wait(for: [done], timeout: longestWait)
        XCTAssertEqual(log.entries, ["asap", "idle"])
        XCTAssertTrue(center.audit().waitingPosts.isEmpty)
    }

    /// Q8: the first turn of a dispatch queue posts no idle notification, so other work comes
    /// first.
    func testQ8IdleNotificationsWaitForTheSecondTurnOfADispatchQueue() {
        let serial = DispatchQueue(label: "PostingQueueLoopTests.serial")
        let queue = PostingQueue(notificationCenter: center, queue: serial)
        let done = expectation(description: "posted")
        tokens.append(center.observe(.other) { _ in done.fulfill() })
        serial.sync {
            queue.enqueue(.labelled("idle"), postingStyle: .whenIdle, coalesceMask: .none)
            queue.enqueue(
                .labelled("last", name: .other), postingStyle: .whenIdle, coalesceMask: .none)
            serial.async { [log] in log.add("other work") }
        }
        wait(for: [done], timeout: longestWait)
        XCTAssertEqual(log.entries, ["other work", "idle"])
    }
}
