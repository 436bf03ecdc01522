internal import TetherTesting

/// Runs a body, in a test of XCTest or of Swift Testing, and fails that test if the body leaves behind an observer, an
/// owner that was observed for, or an object given to `track(_:)`.
///
/// ```swift
/// func testClosedSidebarIsGone() {
///     verifyNoLeaks {
///         let sidebar = track(Sidebar(center: .default))
///         sidebar.close()
///     }
/// }
/// ```
///
/// What holds for `.verifiesNoLeaks` holds here. A body that throws is not verified. The calling thread waits; if it is
/// the main thread, as in a test of XCTest, its run loop runs meanwhile, so that deliveries to `.main` come through. In a
/// turn of the main queue, which a `@MainActor` test of Swift Testing is, they cannot: if one is pending the failure says
/// so, after the limit. Make such a test async, and write `await`.
/// - Parameters:
///   - limit: How long deliveries that are pending when the body returns may take.
///   - release: How long to wait then for what is still there, because a thread or a task of the test's own may be about
///     to let it go; not longer than `limit`. Only a body that leaves something behind waits that long.
///   - explanation: How long the search may take, in all, for why things are still there. What it did not get to is said
///     to be untold.
///   - fileID: The file of the call, which audits and reports name.
///   - filePath: The path of that file, which a failure opens.
///   - line: The line of the call.
///   - column: The column of the call.
///   - body: What to run, in a scope of its own: `LeakTracker.current`.
/// - Returns: What the body returns.
@available(*, noasync, message: "Write 'await' before it, which suspends instead of blocking.")
@_disfavoredOverload
public func verifyNoLeaks<Result>(
    within limit: Duration = .seconds(10), release: Duration = .seconds(2), explanation: Duration = .seconds(2),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column, _ body: () throws -> Result
) rethrows -> Result {
    let scope = LeakTracker(explanation: explanation)
    let result = try LeakTracker.$scope.withValue(LeakTracker.Scope(scope)) { try body() }
    let findings = scope.verifyBlocking(
        LeakTracker.Limits(deliveries: limit, release: release, explanation: explanation))
    Verdict(findings: findings, unattributed: scope.unattributed())
        .report(at: TestSite(fileID: fileID, filePath: filePath, line: line, column: column))
    return result
}

/// Runs an asynchronous body, in a test of XCTest or of Swift Testing, and fails that test if the body leaves behind an
/// observer, an owner that was observed for, or an object given to `track(_:)`.
///
/// See `verifyNoLeaks(within:release:explanation:fileID:filePath:line:column:_:)`; here nothing blocks.
/// - Parameters:
///   - limit: How long deliveries that are pending when the body returns may take.
///   - release: How long to wait then for what is still there; not longer than `limit`.
///   - explanation: How long the search may take, in all, for why things are still there.
///   - fileID: The file of the call, which audits and reports name.
///   - filePath: The path of that file, which a failure opens.
///   - line: The line of the call.
///   - column: The column of the call.
///   - isolation: The actor of the caller, on which the body runs; leave it out.
///   - body: What to run, in a scope of its own: `LeakTracker.current`.
public func verifyNoLeaks<Result>(
    within limit: Duration = .seconds(10), release: Duration = .seconds(2), explanation: Duration = .seconds(2),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
) async rethrows -> Result {
    let scope = LeakTracker(explanation: explanation)
    let result = try await LeakTracker.$scope.withValue(LeakTracker.Scope(scope)) { try await body() }
    let findings = await scope.verify(LeakTracker.Limits(deliveries: limit, release: release, explanation: explanation))
    Verdict(findings: findings, unattributed: scope.unattributed())
        .report(at: TestSite(fileID: fileID, filePath: filePath, line: line, column: column))
    return result
}
