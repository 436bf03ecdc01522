import Foundation
import Synchronization
import Testing
import XCTest

@testable import Tether

/// Delivery to threads that have not been started, or exit.
final class ThreadLifeTests: ThreadDeliveryTestCase {
    /// D5: held by a thread that is not started yet, delivered when it runs, on that thread.
    func testD5NotStartedYet() {
        let thread = RunLoopThread(name: "worker")
        let done = Latch()
        let token = center.observe(.sample, on: .thread(thread)) { [log] notification in
            log.add(notification.label + " on " + (Thread.current.name ?? ""))
            if notification.label == "2" { done.open() }
        }
        post("1", "2")
        XCTAssertEqual(log.entries, [])
        XCTAssertEqual(center.audit().map(\.pending), [2])
        thread.start()
        done.wait()
        XCTAssertEqual(log.entries, ["1 on worker", "2 on worker"])
        thread.cancelAndWait()
        withExtendedLifetime(token) {}
    }

    /// D5: held by a thread that is started and does not run its loop yet.
    func testD5StartedButNotRunning() {
        let (isStarted, mayRun, done) = (Latch(), Latch(), Latch())
        let thread = RunLoopThread(name: "worker") {
            isStarted.open()
            mayRun.wait()
        }
        thread.start()
        isStarted.wait()
        let token = center.observe(.sample, on: .thread(thread)) { [log] in
            log.add($0.label)
            done.open()
        }
        post("held")
        XCTAssertEqual(log.entries, [])
        mayRun.open()
        done.wait()
        XCTAssertEqual(log.entries, ["held"])
        thread.cancelAndWait()
        withExtendedLifetime(token) {}
    }

    /// D5: a thread that is cancelled before it is started drops what is pending, counted, and never runs it.
    func testD5CancelledBeforeItIsStarted() {
        let thread = RunLoopThread(name: "worker")
        let token = center.observe(.sample, on: .thread(thread)) { [log] in log.add($0.label) }
        do {
            let payload = Ending { [log] in log.add("payload gone") }
            center.post(name: .sample, object: payload)
        }
        XCTAssertEqual(center.audit().map(\.pending), [1])
        thread.cancel()
        XCTAssertEqual(log.entries, ["payload gone"])
        post("late")
        XCTAssertEqual(center.audit().map(\.pending), [0])
        XCTAssertEqual(center.audit().map(\.dropped), [2])
        thread.start()
        post("later")
        XCTAssertEqual(center.audit().map(\.dropped), [3])
        XCTAssertEqual(log.entries, ["payload gone"])
        withExtendedLifetime(token) {}
    }

    /// D5: what is pending when the thread exits is dropped and counted, its payload freed; so is what comes later.
    func testD5Exited() {
        let (isStarted, mayExit) = (Latch(), Latch())
        let target = Log<DeliveryTarget>()
        let thread = Thread {
            target.add(.currentThread)
            isStarted.open()
            mayExit.wait()
        }
        thread.start()
        isStarted.wait()
        let token = center.observe(.sample, on: target.entries[0]) { [log] in log.add($0.label) }
        weak var payload: NSObject?
        let payloadGone = Latch()
        do {
            let object = Signalling(payloadGone)
            payload = object
            center.post(name: .sample, object: object)
        }
        XCTAssertNotNil(payload)
        XCTAssertEqual(center.audit().map(\.pending), [1])
        mayExit.open()
        payloadGone.wait()
        post("later")
        XCTAssertNil(payload)
        XCTAssertEqual(log.entries, [])
        XCTAssertEqual(center.audit().map { [$0.pending, $0.dropped] }, [[0, 2]])
        XCTAssertTrue(token.isActive)
    }

    /// D5: threads that exit while others post to them: everything is delivered or dropped, and counted.
    func testD5ExitedBetweenCheckAndSignal() {
        for _ in 0..<300 {
            let center = ObserverCenter()
            let thread = RunLoopThread(name: "worker")
            let delivered = Atomic<Int>(0)
            let token = center.observe(.sample, on: .thread(thread)) { _ in
                delivered.wrappingAdd(1, ordering: .relaxed)
            }
            thread.start()
            for number in 0..<100 {
                if number == 50 { thread.cancel() }
                center.post(name: .sample, object: nil)
            }
            thread.waitUntilFinished()
            let row = center.audit()[0]
            XCTAssertEqual(row.pending, 0)
            XCTAssertEqual(delivered.load(ordering: .relaxed) + row.dropped, 100)
            withExtendedLifetime(token) {}
        }
    }

    /// D5: so it is in modes for which nothing was delivered while the thread ran.
    func testD5ExitedInOtherModes() {
        let thread = RunLoopThread(name: "worker")
        thread.start()
        thread.cancelAndWait()
        let modes: Set<RunLoop.Mode> = [RunLoop.Mode("ThreadDeliveryTests.late")]
        let token = center.observe(.sample, on: .thread(thread, modes: modes)) { [log] in log.add($0.label) }
        post("1", "2")
        XCTAssertEqual(log.entries, [])
        XCTAssertEqual(center.audit().map { [$0.pending, $0.dropped] }, [[0, 2]])
        withExtendedLifetime(token) {}
    }

    /// D5: a thread that goes without having been started drops what it held, counted.
    func testD5NeverStarted() {
        var thread: RunLoopThread? = RunLoopThread(name: "worker")
        let token = center.observe(.sample, on: .thread(thread!)) { [log] in log.add($0.label) }
        post("1")
        thread = nil
        post("2")
        XCTAssertEqual(log.entries, [])
        XCTAssertEqual(center.audit().map { [$0.pending, $0.dropped] }, [[0, 2]])
        withExtendedLifetime(token) {}
    }

    /// R1, O4, R8: what waits for a thread when its observer stops, or its owner ends, does not run and is freed.
    func testR1StoppedOrEndedWhileWaiting() {
        let thread = RunLoopThread(name: "worker")
        let done = Latch()
        let token = center.observe(.sample, on: .thread(thread)) { [log] in log.add("stopped " + $0.label) }
        var owner: NSObject? = NSObject()
        center.observe(.sample, owner: owner!, on: .thread(thread)) { [log] in log.add("owned " + $1.label) }
        weak var payload: NSObject?
        do {
            let object = NSObject()
            payload = object
            center.post(.labelled("1", object: object))
        }
        XCTAssertNotNil(payload)
        token.cancel()
        owner = nil
        XCTAssertNil(payload)
        let last = center.observe(.other, on: .thread(thread)) { _ in done.open() }
        center.post(name: .other, object: nil)
        thread.start()
        done.wait()
        XCTAssertEqual(log.entries, [])
        thread.cancelAndWait()
        withExtendedLifetime(last) {}
    }
}
