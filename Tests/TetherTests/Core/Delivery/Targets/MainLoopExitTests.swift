import Foundation
import XCTest

@testable import Tether

/// The end of a run of the main run loop, seen from inside of one.
final class MainLoopExitTests: XCTestCase {
    private func runLoopOnce(_ body: @escaping @Sendable () -> Void) {
        RunLoop.main.perform(body)
        _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
    }

    func testM9WhatEndsIsForgottenThoughTheRunGoesOn() {
        let (objects, counts) = ((0..<100).map { _ in Plain() }, Log<Int>())
        runLoopOnce {
            let others = MainLoopExit.count
            for object in objects + objects { MainLoopExit.next(for: object) {} }
            counts.add(MainLoopExit.count - others)
            for object in objects { MainLoopExit.forget(object) }
            counts.add(MainLoopExit.count - others)
        }
        XCTAssertEqual(counts.entries, [100, 0])
    }

    func testD5Q2AfterTheRunTheMainQueueHasIt() {
        let (object, log) = (Plain(), Log<String>())
        runLoopOnce {
            MainLoopExit.next(for: object) { log.add("forgotten") }
            MainLoopExit.next(for: object) { log.add(MainDrains().isCurrent ? "main queue" : "elsewhere") }
            log.add("in the run")
        }
        let deadline = Date(timeIntervalSinceNow: 300)
        while log.entries.count < 2, Date() < deadline { runLoopOnce {} }
        XCTAssertEqual(log.entries, ["in the run", "main queue"])
        XCTAssertEqual(MainLoopExit.count, 0)
    }
}
