import Foundation
import Testing
import Tether
import XCTest

/// Tests with a center, on the main thread.
class ThreadDeliveryTestCase: XCTestCase {
    let center = ObserverCenter()
    let log = Log<String>()

    /// Calls a body with a thread whose loop runs, then waits for the thread's exit.
    func withRunningThread(_ body: (RunLoopThread) -> Void) {
        let thread = RunLoopThread(name: "worker")
        thread.start()
        body(thread)
        thread.cancelAndWait()
    }

    func post(_ labels: String...) {
        for label in labels { center.post(.labelled(label)) }
    }
}

extension RunLoopThread {
    /// Waits until the thread has exited.
    func waitUntilFinished() {
        let limit = Date(timeIntervalSinceNow: longestWait)
        while !isFinished, limit.timeIntervalSinceNow > 0 { sched_yield() }
        XCTAssertTrue(isFinished)
    }

    func cancelAndWait() {
        cancel()
        waitUntilFinished()
    }
}
