import Dispatch
import Foundation
import Testing
import Tether
import XCTest

/// The main queue under a run loop on the main thread, with no other test at the same time.
final class MainRunLoopTests: XCTestCase {
    private static let targets: [@Sendable () -> DeliveryTarget] = [
        { .main }, { .dispatchQueue(.main) }, { .operationQueue(.main) },
    ]

    private func runMain(until description: String, _ arrange: (XCTestExpectation) -> Void) {
        let expectation = expectation(description: description)
        arrange(expectation)
        wait(for: [expectation], timeout: 30)
    }

    /// D3 on the main thread a post is delivered inline.
    func testInlineOnTheMainThread() {
        for target in MainRunLoopTests.targets {
            let center = ObserverCenter()
            let log = Log<String>()
            let token = center.observe(.sample, on: target()) { _ in
                log.add(Thread.isMainThread ? "handler" : "elsewhere")
            }
            center.post(.sample, number: 1)
            log.add("posted")
            XCTAssertEqual(log.entries, ["handler", "posted"])
            withExtendedLifetime(token) {}
        }
    }

    /// D3 inside a block of the main queue a post is delivered inline.
    func testInlineInABlockOfTheMainQueue() {
        let center = ObserverCenter()
        let log = Log<String>()
        let token = center.observe(.sample, on: .main) { _ in log.add("handler") }
        runMain(until: "the block ran") { expectation in
            DispatchQueue.main.async {
                center.post(.sample, number: 1)
                log.add("posted")
                expectation.fulfill()
            }
        }
        XCTAssertEqual(log.entries, ["handler", "posted"])
        withExtendedLifetime(token) {}
    }

    /// D3 a post from the main thread queues behind what another thread posted, whichever way main was named.
    func testQueuedBehindWhatIsPending() {
        for target in MainRunLoopTests.targets {
            let center = ObserverCenter()
            let log = Log<String>()
            let tokens = [
                center.observe(.sample, on: target()) { log.add("a\($0.number)") },
                center.observe(.sample, on: .main) { log.add("b\($0.number)") },
            ]
            onThreads({ center.post(.sample, number: 1) })
            center.post(.sample, number: 2)
            XCTAssertEqual(log.entries, [])
            XCTAssertEqual(center.audit().map(\.pending), [2, 2])
            runMain(until: "main drained") { expectation in DispatchQueue.main.async { expectation.fulfill() } }
            XCTAssertEqual(log.entries, ["a1", "b1", "a2", "b2"])
            // With nothing pending any more it is inline again.
            center.post(.sample, number: 3)
            XCTAssertEqual(log.entries.suffix(2), ["a3", "b3"])
            withExtendedLifetime(tokens) {}
        }
    }

    /// D3 D6 a switch to main of an observer with something pending keeps a post from the main thread behind it.
    func testSwitchedToMainWithSomethingPending() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<Int>()
        let token = center.observe(.sample, on: .custom(scheduler)) { log.add($0.number) }
        center.post(.sample, number: 1)
        token.target = .main
        XCTAssertEqual(log.entries, [])
        center.post(.sample, number: 2)
        XCTAssertEqual(log.entries, [])
        runMain(until: "main drained") { expectation in DispatchQueue.main.async { expectation.fulfill() } }
        XCTAssertEqual(log.entries, [1, 2])
        center.post(.sample, number: 3)
        XCTAssertEqual(log.entries, [1, 2, 3])
        withExtendedLifetime(token) {}
    }

    /// D7 a burst from another thread is delivered by one drain of the main queue.
    func testBurstFromAnotherThread() {
        let center = ObserverCenter()
        let log = Log<Int>()
        let token = center.observe(.sample, on: .main) { log.add($0.number) }
        onThreads({ center.post(.sample, numbers: 1...1000) })
        XCTAssertEqual(log.entries, [])
        runMain(until: "main drained") { expectation in DispatchQueue.main.async { expectation.fulfill() } }
        XCTAssertEqual(log.entries, Array(1...1000))
        withExtendedLifetime(token) {}
    }

    /// P1 a main-actor handler runs on the main thread, in posting order.
    func testMainActorHandler() {
        let center = ObserverCenter()
        let log = Log<Int>()
        let token = center.observe(.sample, on: .mainActor) { notification in
            MainActor.assertIsolated()
            log.add(Thread.isMainThread ? notification.number : -1)
        }
        onThreads({ center.post(.sample, numbers: 1...3) })
        center.post(.sample, number: 4)
        runMain(until: "main drained") { expectation in DispatchQueue.main.async { expectation.fulfill() } }
        center.post(.sample, number: 5)
        XCTAssertEqual(log.entries, [1, 2, 3, 4, 5])
        withExtendedLifetime(token) {}
    }
}
