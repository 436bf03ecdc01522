import CoreFoundation
import Foundation
import XCTest

@testable import Tether

private func poll() { RunLoop.Mode.default.run(for: -1) }

/// Runs the loop until a timer fires, which enqueues for when it is idle, and ends the run.
private func waitAndEnqueue(_ label: String, on queue: PostingQueue, _ log: Log<String>) {
    let timer = Timer(fire: Date(timeIntervalSinceNow: 0.3), interval: 0, repeats: false) { _ in
        log.add("waited")
        queue.enqueue(.labelled(label), postingStyle: .whenIdle)
        CFRunLoopStop(CFRunLoopGetCurrent())
    }
    RunLoop.current.add(timer, forMode: .default)
    RunLoop.Mode.default.run(for: 10)
}

/// In a program that polls, whose run loop has no time to wait, the queue posts at the ends of its runs (Q1).
final class PostingQueuePollingTests: XCTestCase {
    private let center = ObserverCenter()
    private let log = Log<String>()
    private var tokens: [NotificationObserver] = []

    override func setUp() {
        tokens.append(center.observe(.sample) { [log] in log.add($0.label) })
    }

    /// Q1: a program that polls gives its loop no time to wait.
    func testQ1WhenIdleInALoopThatIsPolled() {
        let queue = PostingQueue(center: center)
        queue.enqueue(.labelled("idle"), postingStyle: .whenIdle)
        for _ in 0..<3 { _ = RunLoop.current.run(mode: .default, before: Date()) }
        XCTAssertEqual(log.entries, ["idle"])
        for seconds in [CFTimeInterval(0), -1] {
            queue.enqueue(.labelled("again"), postingStyle: .whenIdle)
            for _ in 0..<3 { RunLoop.Mode.default.run(for: seconds) }
        }
        XCTAssertEqual(log.entries, ["idle", "again", "again"])
    }

    /// Q1: nor do posts of each run, for which the queue makes itself known to the loop anew, make it look busy.
    func testQ1WhenIdleInALoopThatIsPolledWhileSomethingIsPostedInEachRun() {
        let queue = PostingQueue(center: center)
        queue.enqueue(.labelled("idle"), postingStyle: .whenIdle)
        var objects: [CFRunLoopObserver] = []
        for number in 0..<20 where !log.entries.contains("idle") {
            // Lies where the memory of an observer was that has gone, so that none is taken for another.
            objects.append(CFRunLoopObserverCreateWithHandler(nil, 0, false, 0) { _, _ in })
            queue.enqueue(.labelled("\(number)"), postingStyle: .asap, coalesceMask: .none)
            poll()
        }
        XCTAssertEqual(log.entries, ["0", "idle"])
        withExtendedLifetime(objects) {}
    }

    /// Calls `body` with a loop in which at least one timer is due whenever another has fired.
    private func withBusyTimers(_ body: () -> Void) {
        let timers = (0..<3).map { _ in
            Timer(fire: Date(), interval: 0.001, repeats: true) { _ in usleep(2000) }
        }
        for timer in timers { RunLoop.current.add(timer, forMode: .default) }
        body()
        for timer in timers { timer.invalidate() }
    }

    /// Q7: a run that ends is not busy, whatever is due then.
    func testQ7WhenIdleInALoopThatIsPolledWhileTimersAreDue() {
        let queue = PostingQueue(center: center)
        withBusyTimers {
            for seconds in [CFTimeInterval(0), -1] {
                queue.enqueue(.labelled("idle \(seconds)"), postingStyle: .whenIdle)
                RunLoop.Mode.default.run(for: seconds)
            }
        }
        XCTAssertEqual(log.entries, ["idle 0.0", "idle -1.0"])
    }

    /// Q7: nor is one that ends after timers have left it no time to wait.
    func testQ7WhenIdleAtTheEndOfARunThatTimersLeftNoTimeToWait() {
        let queue = PostingQueue(center: center)
        withBusyTimers {
            queue.enqueue(.labelled("idle"), postingStyle: .whenIdle)
            RunLoop.Mode.default.run(for: 0.05)
        }
        XCTAssertEqual(log.entries, ["idle"])
    }

    /// Q1: what is enqueued for another mode in the middle of a run waits for one that is seen from its beginning.
    func testQ1NotAtTheEndOfARunOfWhichNothingWasSeenBefore() {
        let queue = PostingQueue(center: center)
        // Not by a timer: one that is due need not fire in a run that does not wait.
        RunLoop.current.perform { [log] in
            log.add("enqueued")
            queue.enqueue(.labelled("idle"), postingStyle: .whenIdle)
        }
        poll()
        XCTAssertEqual(log.entries, ["enqueued"])
        poll()
        XCTAssertEqual(log.entries, ["enqueued", "idle"])
    }

    /// Q1: nor does what is taken out and put in again in each run, in the modes that it had or in others.
    func testQ1WhenIdleInALoopThatIsPolledWhileItIsEnqueuedAnewInEachRun() {
        let queue = PostingQueue(center: center)
        for modes in [[RunLoop.Mode.default], [.common]] {
            for number in 0..<20 {
                RunLoop.current.perform {
                    let idle = Notification.labelled("idle")
                    queue.dequeueNotifications(matching: idle, coalesceMask: .onName)
                    queue.enqueue(
                        idle, postingStyle: .whenIdle, forModes: number.isMultiple(of: 2) ? [.default] : modes)
                }
                poll()
            }
        }
        // In every second run: one in which it is enqueued with nothing else waiting was not seen to begin.
        XCTAssertEqual(log.entries.count, 20)
    }

    /// Q1: a run inside it, in another mode, may wait; it has not done so itself.
    func testQ1WhenIdleAtTheEndOfAPolledRunInWhichOneInAnotherModeWaited() {
        let queue = PostingQueue(center: center)
        let other = RunLoop.Mode("Tether.Other")
        queue.enqueue(.labelled("other"), postingStyle: .whenIdle, coalesceMask: .none, forModes: [other])
        queue.enqueue(.labelled("idle"), postingStyle: .whenIdle, coalesceMask: .none)
        let timer = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
        RunLoop.current.add(timer, forMode: other)
        RunLoop.current.perform { [log] in
            other.run(for: 0.01)
            log.add("waited")
        }
        poll()
        timer.invalidate()
        XCTAssertEqual(log.entries, ["other", "waited", "idle"])
    }

    /// Q1: a run inside it, in the same mode, may wait, too.
    func testQ1WhenIdleAtTheEndOfAPolledRunInsideWhichOneWaited() {
        let queue = PostingQueue(center: center)
        queue.enqueue(.labelled("first"), postingStyle: .asap, coalesceMask: .none)
        RunLoop.current.perform { [log] in
            RunLoop.Mode.default.run(for: 0.001)
            log.add("inside")
            queue.enqueue(.labelled("second"), postingStyle: .whenIdle)
        }
        poll()
        XCTAssertEqual(log.entries, ["first", "inside", "second"])
    }

    /// Q1: a run that has waited posts nothing at its end.
    func testQ1NotAtTheEndOfARunThatHasWaited() {
        let queue = PostingQueue(center: center)
        queue.enqueue(.labelled("first"), postingStyle: .whenIdle)
        waitAndEnqueue("second", on: queue, log)
        XCTAssertEqual(log.entries, ["first", "waited"])
        poll()
        XCTAssertEqual(log.entries, ["first", "waited", "second"])
    }

    /// Q1: nor does one inside a timer's callout, in which that timer is due all the while.
    func testQ1NotAtTheEndOfARunInsideATimerThatHasWaited() {
        let queue = PostingQueue(center: center)
        let timer = Timer(fire: Date(), interval: 0, repeats: false) { [log] _ in
            queue.enqueue(.labelled("first"), postingStyle: .whenIdle)
            waitAndEnqueue("second", on: queue, log)
            log.add("after")
            CFRunLoopStop(CFRunLoopGetCurrent())
        }
        RunLoop.current.add(timer, forMode: .default)
        RunLoop.Mode.default.run(for: 10)
        XCTAssertEqual(log.entries, ["first", "waited", "after"])
        poll()
        poll()
        XCTAssertEqual(log.entries, ["first", "waited", "after", "second"])
    }

    /// Q1: nor does one that comes after another in which what waited was taken out.
    func testQ1NotAtTheEndOfARunThatHasWaitedAfterOneThatHasNot() {
        let queue = PostingQueue(center: center)
        queue.enqueue(.labelled("first"), postingStyle: .whenIdle)
        RunLoop.current.perform { queue.dequeueNotifications(matching: .labelled("first"), coalesceMask: .onName) }
        poll()
        waitAndEnqueue("second", on: queue, log)
        XCTAssertEqual(log.entries, ["waited"])
        poll()
        XCTAssertEqual(log.entries, ["waited", "second"])
    }

    /// How many observers the loop has in the default mode.
    private var observerCount: Int {
        "\(CFRunLoopGetCurrent()!)".components(separatedBy: "<CFRunLoopObserver").count
    }

    /// Q1: of what is posted at the end of one run, for several modes, nothing stays with the loop, nor where another
    /// queue or an observer of the program's posts it.
    func testQ1NothingStaysWithTheLoop() {
        let queues = [PostingQueue(center: center), PostingQueue(center: center)]
        let count = observerCount
        let token = center.observe(.chained) { _ in queues[0].flush() }
        for _ in 0..<10 {
            for queue in queues {
                for mode in [RunLoop.Mode.default, .common] {
                    queue.enqueue(.labelled(""), postingStyle: .whenIdle, coalesceMask: .none, forModes: [mode])
                }
            }
            queues[1].enqueue(.labelled("", name: .chained), postingStyle: .asap)
            XCTAssertGreaterThan(observerCount, count)
            poll()
        }
        XCTAssertEqual(log.entries.count, 40)
        poll()
        XCTAssertEqual(observerCount, count)
        withExtendedLifetime(token) {}
    }

    /// Q2: nor of a queue that goes in the middle of a run.
    func testQ2NothingStaysOfAQueueThatGoesInARun() {
        let count = observerCount
        let queue = Holder(PostingQueue(center: center))
        queue.object?.enqueue(.labelled(""), postingStyle: .whenIdle)
        RunLoop.current.perform { queue.release() }
        poll()
        XCTAssertNil(queue.object)
        XCTAssertEqual(log.entries, [])
        XCTAssertEqual(observerCount, count)
    }

    /// Q1: a run that has come to wait posts nothing at its end, whatever was posted in that moment.
    func testQ1NotAtTheEndOfARunThatHasWaitedWhereSomethingWasPostedThen() {
        let queue = PostingQueue(center: center)
        queue.enqueue(.labelled("default"), postingStyle: .whenIdle, coalesceMask: .none)
        queue.enqueue(.labelled("common"), postingStyle: .whenIdle, coalesceMask: .none, forModes: [.common])
        waitAndEnqueue("later", on: queue, log)
        XCTAssertEqual(log.entries, ["default", "common", "waited"])
        poll()
        XCTAssertEqual(log.entries, ["default", "common", "waited", "later"])
    }

    /// Q1, Q6: a handler of a post runs the loop, where nothing waited when it was called.
    func testQ1WhenIdleInARunInsideAHandlerInALoopThatIsPolled() {
        let queue = PostingQueue(center: center)
        let token = center.observe(.chained) { [log] _ in
            queue.enqueue(.labelled("inside"), postingStyle: .whenIdle)
            poll()
            log.add("after")
        }
        queue.enqueue(.labelled("", name: .chained), postingStyle: .asap)
        poll()
        XCTAssertEqual(log.entries, ["inside", "after"])
        withExtendedLifetime(token) {}
    }
}
