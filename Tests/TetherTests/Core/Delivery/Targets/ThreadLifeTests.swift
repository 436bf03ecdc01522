import CoreFoundation
import Foundation
import Synchronization
import Testing
import Tether
import XCTest

/// Delivery to threads before their start, and at their exit.
final class ThreadLifeTests: ThreadDeliveryTestCase {
    /// D5: a delivery waits for a thread that is not started, and is made by the thread when it
    /// runs.
    func testD5DeliveriesWaitForAThreadThatHasNotStarted() {
        let thread = RunLoopThread(name: "worker")
        let done = Gate()
        let token = center.observe(.sample, on: .thread(thread)) { [log] notification in
            log.add(notification.label + " on " + (Thread.current.name ?? ""))
            if notification.label == "2" { done.open() }
        }
        post("1", "2")
        XCTAssertEqual(log.entries, [])
        XCTAssertEqual(center.audit().map(\.pending), [2])
        thread.start()
        done.pass()
        XCTAssertEqual(log.entries, ["1 on worker", "2 on worker"])
        thread.cancelAndWait()
        withExtendedLifetime(token) {}
    }

    /// D4 D5: a thread that starts makes the deliveries to all sets of modes in posting order.
    func testD4D5AStartedThreadMakesDeliveriesOfAllModesInPostingOrder() {
        let thread = RunLoopThread(name: "worker")
        let done = Gate()
        let modes: [Set<RunLoop.Mode>] = [
            [.common], [.default], [RunLoop.Mode("one"), .default],
            [RunLoop.Mode("other"), .default],
        ]
        let tokens = modes.indices.map { index in
            let name = Notification.Name("\(index)")
            return center.observe(name, on: .thread(thread, modes: modes[index])) { [log] note in
                log.add(note.label)
                if note.label == "19" { done.open() }
            }
        }
        let labels = (0..<20).map { "\($0)" }
        for (number, label) in labels.enumerated() {
            let name = Notification.Name("\(number % modes.count)")
            center.post(name: name, object: nil, userInfo: Notification.labelled(label).userInfo)
        }
        thread.start()
        done.pass()
        XCTAssertEqual(log.entries, labels)
        thread.cancelAndWait()
        withExtendedLifetime(tokens) {}
    }

    /// D5: deliveries to a thread that had finished when it was given are dropped and counted.
    func testD5DeliveriesToAFinishedThreadAreDroppedAndCounted() {
        let thread = Thread { RunLoopThread.prepareCurrentThread() }
        thread.start()
        let limit = Date(timeIntervalSinceNow: longestWait)
        while !thread.isFinished, limit.timeIntervalSinceNow > 0 { sched_yield() }
        for _ in 0..<1000 {
            let token = center.observe(.sample, on: .thread(thread)) { [log] in log.add($0.label) }
            post("late")
            XCTAssertEqual(center.audit().map { [$0.pending, $0.dropped] }, [[0, 1]])
            token.cancel()
        }
        XCTAssertEqual(log.entries, [])
    }

    /// D5: the thread's exit drops and counts pending deliveries, and releases their payload. Later
    /// deliveries are dropped, too.
    func testD5DeliveriesToAnExitedThreadAreDroppedAndCounted() {
        let (isStarted, mayExit) = (Gate(), Gate())
        let target = Log<DeliveryTarget>()
        let thread = Thread {
            target.add(.currentThread)
            isStarted.open()
            mayExit.pass()
        }
        thread.start()
        isStarted.pass()
        let token = center.observe(.sample, on: target.entries[0]) { [log] in log.add($0.label) }
        weak var payload: Ending?
        let payloadGone = Gate()
        do {
            let object = Ending(opening: payloadGone)
            payload = object
            center.post(name: .sample, object: object)
        }
        XCTAssertNotNil(payload)
        XCTAssertEqual(center.audit().map(\.pending), [1])
        mayExit.open()
        payloadGone.pass()
        post("later")
        XCTAssertNil(payload)
        XCTAssertEqual(log.entries, [])
        XCTAssertEqual(center.audit().map { [$0.pending, $0.dropped] }, [[0, 2]])
        XCTAssertTrue(token.isActive)
    }

    /// D5: threads exit while others post to them: all deliveries are made, or dropped and counted.
    func testD5EachDeliveryToAnExitingThreadIsMadeOrCounted() {
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

    /// D5: a handler of a cancelled thread can run the loop again and again: the loop sleeps.
    func testD5ACancelledThreadsLoopSleepsInsideAHandler() {
        let thread = RunLoopThread(name: "worker")
        let token = center.observe(.sample, on: .thread(thread)) { [log] _ in
            Thread.current.cancel()
            var sleeps = 0
            // After Tether's observer of the loop. The block wakes the loop without ending the run.
            let waits = RunLoopHold.beforeWaiting
            let current = CFRunLoopGetCurrent()!
            let observer = RunLoopHold(current, in: [.default], observing: waits, order: .max) {
                _ in
                sleeps += 1
                RunLoop.current.perform(inModes: [.default]) {}
                CFRunLoopWakeUp(CFRunLoopGetCurrent())
                if sleeps == 100 { CFRunLoopStop(CFRunLoopGetCurrent()) }
            }
            var runs = 0
            while sleeps < 100 {
                CFRunLoopRunInMode(RunLoop.Mode.default.cfMode, 1e10, false)
                runs += 1
            }
            observer.invalidate()
            log.add(runs < 5 ? "slept" : "ended \(runs) runs")
        }
        thread.start()
        post("1")
        thread.waitUntilFinished()
        XCTAssertEqual(log.entries, ["slept"])
        withExtendedLifetime(token) {}
    }
}
