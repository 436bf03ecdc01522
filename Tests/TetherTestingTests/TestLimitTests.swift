import Dispatch
import Foundation
import Testing

@testable import TestLimits

/// The limit of each test, and the report when the limit is reached.
@Suite struct TestLimitTests {
    @Test func `a test is overdue when no test began or ended for longer than the limit`() {
        var tests = RunningTests()
        #expect(tests.overdue(after: -1) == nil)
        tests.begin("first")
        tests.begin("second")
        #expect(tests.overdue(after: 3600) == nil)
        #expect(tests.overdue(after: -1) == ["first", "second"])
        tests.end("first")
        #expect(tests.overdue(after: -1) == ["second"])
        tests.end("second")
        #expect(tests.overdue(after: -1) == nil)
    }

    @Test func `a running test is known by its name`() async throws {
        // If a tool requests the events, the watchdog gets none.
        guard Watchdog.shared.isHearing else { return }
        let name = try #require(Test.current).name
        // The test's beginning is written to a pipe, which another thread reads.
        let end = Date(timeIntervalSinceNow: 300)
        while !Watchdog.shared.running.contains(where: { $0.contains(name) }), Date() < end {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(Watchdog.shared.running.contains { $0.contains(name) })
    }

    #if os(Linux)
    @Test func `a test that hangs ends the process with its name and all threads' stacks`()
        async throws
    {
        let result = try await #require(
            processExitsWith: .exitCode(70), observing: [\.standardErrorContent]
        ) {
            let watchdog = Watchdog(limit: 0.5)
            watchdog.update { $0.begin("the test that hangs") }
            Thread.detachNewThread { standStill() }
            DispatchQueue.global().async { standStill() }
            watchdog.start()
            standStill()
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("Running:\n    the test that hangs\n"))
        #expect(text.contains("sem"))
        if Stacks.hasSymbolizer { #expect(text.components(separatedBy: "standStill").count > 3) }
    }
    #endif
}

@inline(never)
private func standStill() {
    DispatchSemaphore(value: 0).wait()
    print("This thread does not return to its caller, so that it is no tail call.")
}
