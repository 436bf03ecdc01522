/// Runs a body in a new scope, and returns the leaks of the body; for programs other than tests.
///
/// ```swift
/// let leaks = findLeaks { openAndCloseADocument() }
/// for leak in leaks { print(leak) }
/// ```
///
/// The function first waits for deliveries pending when the body returns. The calling thread waits; the main thread
/// runs its run loop meanwhile. In a turn of the main queue, such as a main-actor function called by a task, deliveries
/// to `.main` cannot run before the return: write `await` there. The function needs no framework for tests. In tests,
/// `verifyNoLeaks` of `TetherVerification` fails the test.
/// - Parameters:
///   - limit: The longest wait for deliveries that are pending when the body returns.
///   - release: The longest wait, at most `limit`, for threads or tasks of the body to release the things left behind,
///     if there are any.
///   - explanation: The time limit of the whole search for holders; a finding says if the search reached the limit.
///   - body: The code to run, with the new scope as `LeakTracker.current`.
/// - Returns: A leak for each thing left behind, with a sentence about the cause and a picture.
@available(*, noasync, message: "Write 'await' before it, which suspends instead of blocking.")
@_disfavoredOverload
public func findLeaks(
    within limit: Duration = .seconds(10), release: Duration = .seconds(2), explanation: Duration = .seconds(2),
    _ body: () throws -> Void
) rethrows -> [LeakTracker.Leak] {
    let limits = LeakTracker.Limits(deliveries: limit, release: release, explanation: explanation)
    return try LeakTracker.run(limits, warns: false, body).1.findings.map { LeakTracker.Leak($0.message, $0.picture) }
}

/// Runs an asynchronous body, and blocks no thread.
///
/// See `findLeaks(within:release:explanation:_:)`. The actor of the caller, `isolation`, runs the body: leave the
/// argument out.
public func findLeaks(
    within limit: Duration = .seconds(10), release: Duration = .seconds(2), explanation: Duration = .seconds(2),
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async rethrows -> [LeakTracker.Leak] {
    let limits = LeakTracker.Limits(deliveries: limit, release: release, explanation: explanation)
    let (_, verdict) = try await LeakTracker.run(limits, warns: false, body)
    return verdict.findings.map { LeakTracker.Leak($0.message, $0.picture) }
}
