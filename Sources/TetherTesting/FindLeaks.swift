/// Runs a body in a new scope, and returns the leaks of the body; for programs other than tests.
///
/// ```swift
/// let leaks = findLeaks { openAndCloseADocument() }
/// for leak in leaks { print(leak) }
/// ```
///
/// The function first waits for deliveries pending when the body returns. The calling thread waits;
/// the main thread runs its run loop meanwhile. In a turn of the main queue, such as a main-actor
/// function called by a task, deliveries to `.main` cannot run before the return; and in as many
/// tasks as processors at a time, no other task can: write `await` there. The function needs no
/// framework for tests. In tests, `verifyNoLeaks` of `TetherVerification` fails the test.
/// - Parameters:
///   - limits: The longest waits for deliveries and for releases, and the longest search for
///     holders.
///   - body: The code to run, with the new scope as `LeakTracker.current`.
/// - Returns: A leak for each thing left behind, with a sentence about the cause and a picture.
@available(*, noasync, message: "write 'await'; at the top level of main.swift, in a task")
@_disfavoredOverload
public func findLeaks(
    limits: LeakTracker.Limits = .init(), _ body: () throws -> Void
) rethrows -> [LeakTracker.Leak] {
    let (_, verdict) = try LeakTracker.run(limits, warns: false, body)
    return verdict.findings.map { LeakTracker.Leak($0.message, $0.picture) }
}

/// Runs an asynchronous body, and blocks no thread.
///
/// See `findLeaks(limits:_:)`. The actor of the caller, `isolation`, runs the body: leave the
/// argument out.
public func findLeaks(
    limits: LeakTracker.Limits = .init(), isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Void
) async rethrows -> [LeakTracker.Leak] {
    let (_, verdict) = try await LeakTracker.run(limits, warns: false, body)
    return verdict.findings.map { LeakTracker.Leak($0.message, $0.picture) }
}
