import CoreFoundation
import Foundation
import TetherTesting
import XCTest

@testable import Tether

/// A recorder that is waited for on the thread to which it is delivered.
final class NotificationRecorderXCTests: XCTestCase {
    private let center = ObserverCenter()

    func testD3AWaitOnTheMainThreadIsForDeliveriesToItToo() {
        let changes = NotificationRecorder(center, .modelDidChange, on: .main)
        center.postElsewhere()
        XCTAssertEqual(changes.count, 0)
        XCTAssertTrue(changes.wait(for: 1, within: .seconds(20)))
        XCTAssertEqual(changes.names, [.modelDidChange])
    }

    func testD5AWaitOnAThreadIsForDeliveriesToItToo() {
        let (center, isDelivered) = (center, expectation(description: "delivered"))
        Thread.detachNewThread {
            let changes = NotificationRecorder(center, .modelDidChange, on: .currentThread)
            Thread.detachNewThread { center.post(name: .modelDidChange, object: nil) }
            if changes.wait(for: 1, within: .seconds(20)) { isDelivered.fulfill() }
        }
        wait(for: [isDelivered], timeout: 30)
    }

    func testD5AWaitThatIsOverLeavesTheRunLoopAsItWas() {
        let changes = NotificationRecorder(center, .modelDidChange)
        for _ in 0..<20 {
            center.post(name: .modelDidChange, object: nil)
            XCTAssertTrue(changes.wait(for: 1, within: .seconds(20)))
            center.postElsewhere()
            XCTAssertTrue(changes.wait(for: changes.count, within: .seconds(20)))
        }
        // What was left would stop it.
        XCTAssertEqual(CFRunLoopRunInMode(RunLoop.Mode.default.cfMode, 0.05, false), .timedOut)
    }

    func testD3AWaitOnTheMainThreadHasItsLimit() {
        let changes = NotificationRecorder(center, .modelDidChange, on: .main)
        XCTAssertFalse(changes.wait(for: 1, within: .zero))
        XCTAssertFalse(changes.wait(for: 1, within: .milliseconds(1)))
    }
}
