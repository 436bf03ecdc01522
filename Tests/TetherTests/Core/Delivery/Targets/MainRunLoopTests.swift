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
}
