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
}
