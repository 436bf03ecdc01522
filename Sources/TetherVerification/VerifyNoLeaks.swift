internal import Testing
public import TetherTesting

/// Runs a body in a test of XCTest or of Swift Testing. The test fails if the body leaves behind an
/// observer, an owner of an observer, or an object given to `track(_:)`.
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
/// Verifies as `.verifiesNoLeaks` does. A body that throws is not verified. The calling thread
/// waits. The main thread, as in a test of XCTest, runs its run loop meanwhile, so that deliveries
/// to `.main` can run. In a turn of the main queue, such as a `@MainActor` test of Swift Testing,
/// such deliveries cannot run: if one is pending, the failure says so after the limit. Nor may
/// tasks and async handlers run if as many tests as processors block so at a time. Make such a test
/// async, and write `await`.
/// - Parameters:
///   - limits: The longest waits for deliveries and for releases, and the longest search for
///     holders.
///   - fileID: The file of the call, which audits and reports name.
///   - filePath: The path of that file, which a failure opens.
///   - line: The line of the call.
///   - column: The column of the call.
///   - body: The code to run, with the new scope as `LeakTracker.current`.
/// - Returns: The result of the body.
@available(*, noasync, message: "write 'await'; at the top level of main.swift, in a task")
@_disfavoredOverload
public func verifyNoLeaks<Result>(
    limits: LeakTracker.Limits = .init(), fileID: StaticString = #fileID,
    filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column, _ body: () throws -> Result
) rethrows -> Result {
    let (result, verdict) = try LeakTracker.run(limits, body)
    verdict.report(
        at: SourceLocation(
            fileID: "\(fileID)", filePath: "\(filePath)", line: Int(line), column: Int(column)))
    return result
}

/// Runs an asynchronous body, and blocks no thread.
///
/// See `verifyNoLeaks(limits:fileID:filePath:line:column:_:)`. The actor of the caller,
/// `isolation`, runs the body: leave the argument out.
public func verifyNoLeaks<Result>(
    limits: LeakTracker.Limits = .init(), fileID: StaticString = #fileID,
    filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
) async rethrows -> Result {
    let (result, verdict) = try await LeakTracker.run(limits, body)
    verdict.report(
        at: SourceLocation(
            fileID: "\(fileID)", filePath: "\(filePath)", line: Int(line), column: Int(column)))
    return result
}
