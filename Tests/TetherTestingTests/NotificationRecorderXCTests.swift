import CoreFoundation
import Foundation
import TetherTesting
import XCTest

@testable import Tether

/// Waits for a notification, which comes before the limit.
private func assertEnds(
    _ recorder: NotificationRecorder, _ message: String = "", line: UInt = #line
) {
    let limit = Duration.seconds(20)
    let duration = ContinuousClock().measure {
        XCTAssertTrue(recorder.wait(for: 1, within: limit), message, line: line)
    }
    XCTAssertLessThan(duration, limit, message, line: line)
}

/// A recorder, awaited on the thread of its deliveries.
final class NotificationRecorderXCTests: XCTestCase {
    private let center = ObserverCenter()

    func testD3AWaitOnTheMainThreadIsForDeliveriesToItToo() {
        let changes = NotificationRecorder(center, .modelDidChange, on: .main)
        center.postElsewhere()
        XCTAssertEqual(changes.count, 0)
        XCTAssertTrue(changes.wait(for: 1, within: .seconds(100)))
        XCTAssertEqual(changes.names, [.modelDidChange])
    }

    func testD5AWaitOnAThreadIsForDeliveriesToItToo() {
        let (center, isDelivered) = (center, expectation(description: "delivered"))
        Thread.detachNewThread {
            let changes = NotificationRecorder(center, .modelDidChange, on: .currentThread)
            Thread.detachNewThread { center.post(name: .modelDidChange, object: nil) }
            XCTAssertTrue(changes.wait(for: 1, within: .seconds(100)))
            isDelivered.fulfill()
        }
        wait(for: [isDelivered], timeout: 300)
    }

    /// L2: the awaited delivery comes inside a nested run of the loop. The nested run continues,
    /// and then the wait ends.
    func testL2AWaitEndsAfterARunOfTheLoopInsideIt() {
        let center = center
        let changes = NotificationRecorder(center, .modelDidChange)
        let isInside = expectation(description: "inside")
        let timer = Timer(fire: Date(), interval: 0, repeats: false) { _ in
            // Fires in the nested run.
            let inner = Timer(fire: Date(), interval: 0, repeats: false) { _ in
                center.post(name: .modelDidChange, object: nil)
            }
            RunLoop.current.add(inner, forMode: .default)
            var result: CFRunLoopRunResult
            // On a loaded machine the limit may come before the timer is served.
            repeat {
                result = CFRunLoopRunInMode(RunLoop.Mode.default.cfMode, 0.2, false)
            } while result == .timedOut && changes.count == 0
            XCTAssertEqual(result, .timedOut)
            XCTAssertEqual(changes.count, 1)
            isInside.fulfill()
        }
        RunLoop.current.add(timer, forMode: .default)
        assertEnds(changes)
        wait(for: [isInside], timeout: 0)
    }

    func testD3AWaitOnTheMainThreadHasItsLimit() {
        let changes = NotificationRecorder(center, .modelDidChange, on: .main)
        XCTAssertFalse(changes.wait(for: 1, within: .zero))
        XCTAssertFalse(changes.wait(for: 1, within: .milliseconds(1)))
    }
}
