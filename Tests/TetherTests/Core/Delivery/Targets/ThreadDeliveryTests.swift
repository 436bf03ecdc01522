import CoreFoundation
import Foundation
import Synchronization
import Testing
import Tether
import XCTest

/// Delivery to a thread through its run loop, on real threads.
final class ThreadDeliveryTests: ThreadDeliveryTestCase {
    /// D5, D7: a sleeping loop is woken; 1000 posts to a busy loop arrive in order, in one turn.
    func testD5D7ManyPostsWakeASleepingLoopAndArriveInOrder() {
        withRunningThread { thread in
            let (isBusy, goOn, done) = (Gate(), Gate(), Gate())
            let passes = Atomic<Int>(0)
            let token = center.observe(.sample, on: .thread(thread)) { [log] notification in
                log.add(notification.label)
                switch notification.label {
                case "first":
                    let observer = CFRunLoopObserverCreateWithHandler(
                        nil, CFRunLoopActivity.beforeTimers.rawValue, true, 0
                    ) { _, _ in
                        passes.wrappingAdd(1, ordering: .relaxed)
                    }
                    CFRunLoopAddObserver(
                        CFRunLoopGetCurrent(), observer, RunLoop.Mode.default.cfMode)
                    isBusy.open()
                    goOn.pass()
                case "999": done.open()
                default: break
                }
            }
            post("first")
            isBusy.pass()
            for number in 0..<1000 { center.post(.labelled("\(number)")) }
            goOn.open()
            done.pass()
            XCTAssertEqual(log.entries, ["first"] + (0..<1000).map(String.init))
            // A pass for the deliveries, and up to two for the wake-up.
            XCTAssertLessThan(passes.load(ordering: .relaxed), 5)
            withExtendedLifetime(token) {}
        }
    }

    /// D5: only in a listed mode.
    func testD5NothingIsDeliveredInAModeThatIsNotListed() {
        let (custom, center, log) = (RunLoop.Mode("ThreadDeliveryTests.custom"), center, log)
        JoinableThread {
            RunLoopThread.prepareCurrentThread()
            let tokens = [
                center.observe(.sample, on: .thread(.current, modes: [custom])) {
                    log.add("custom " + $0.label)
                },
                center.observe(.other, on: .currentThread) { log.add("common " + $0.label) },
            ]
            JoinableThread {
                center.post(.labelled("1"))
                center.post(.labelled("2", name: .other))
            }.join()
            RunLoop.current.run(.default) { !log.entries.isEmpty }
            log.add("run")
            RunLoop.current.run(custom) { log.entries.count == 3 }
            withExtendedLifetime(tokens) {}
        }.join()
        XCTAssertEqual(log.entries, ["common 2", "run", "custom 1"])
    }

    /// D4, D5: a delivery keeps its place among the run loop's own blocks.
    func testD4ADeliveryKeepsItsPlaceAmongPerformBlocks() {
        let (center, log) = (center, log)
        JoinableThread {
            let token = center.observe(.sample, on: .currentThread) { log.add($0.label) }
            RunLoop.current.perform { log.add("before") }
            JoinableThread { center.post(.labelled("delivery")) }.join()
            RunLoop.current.perform { log.add("after") }
            RunLoop.current.run(.default) { log.entries.count == 3 }
            withExtendedLifetime(token) {}
        }.join()
        XCTAssertEqual(log.entries, ["before", "delivery", "after"])
    }

    /// D5, D3: posted from the thread itself inline, unless something of the observer is pending.
    func testD5D3APostOnTheThreadItselfIsInlineUnlessOneIsPending() {
        let thread = RunLoopThread(name: "worker")
        let done = Gate()
        let token = center.observe(.sample, on: .thread(thread)) { [log] in log.add($0.label) }
        let posting = center.observe(.other, on: .thread(thread)) { [log, center] notification in
            log.add("begin " + notification.label)
            center.post(.labelled("inside " + notification.label))
            log.add("end " + notification.label)
            if notification.label == "2" { center.post(name: .chained, object: nil) }
        }
        let last = center.observe(.chained, on: .thread(thread)) { _ in done.open() }
        center.post(.labelled("1", name: .other))
        center.post(.labelled("2", name: .other))
        thread.start()
        done.pass()
        XCTAssertEqual(
            log.entries, ["begin 1", "inside 1", "end 1", "begin 2", "inside 2", "end 2"])
        thread.cancelAndWait()
        withExtendedLifetime((token, posting, last)) {}
    }

    /// D5: a prepared thread, and the main thread.
    func testD5APreparedThreadAndTheMainThreadAreTargets() {
        let (isPrepared, mayRun, isDone) = (Gate(), Gate(), Gate())
        let thread = Box<UncheckedThread?>(nil)
        Thread.detachNewThread { [log] in
            RunLoopThread.prepareCurrentThread()
            thread.set(UncheckedThread(thread: .current))
            isPrepared.open()
            mayRun.pass()
            RunLoop.current.run(.default, until: { log.entries.contains("prepared 1") })
            isDone.open()
        }
        isPrepared.pass()
        let prepared = center.observe(.sample, on: .thread(thread.value!.thread)) { [log] in
            log.add("prepared " + $0.label)
        }
        // The thread retains its body, which captures the box.
        thread.set(nil)
        post("1")
        mayRun.open()
        isDone.pass()
        prepared.cancel()
        let main = center.observe(.sample, on: .thread(.mainThread)) { [log] notification in
            XCTAssertTrue(Thread.isMainThread)
            log.add("main " + notification.label)
        }
        Thread.detachNewThread { [center] in center.post(.labelled("2")) }
        RunLoop.current.run(.default, until: { [log] in log.entries.contains("main 2") })
        post("3")
        XCTAssertEqual(log.entries, ["prepared 1", "main 2", "main 3"])
        withExtendedLifetime(main) {}
    }
}

/// SAFETY: the thread object is only passed to Tether.
private struct UncheckedThread: @unchecked Sendable {
    let thread: Thread
}
