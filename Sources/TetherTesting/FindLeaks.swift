/// Runs a body in a scope of its own, and returns what it leaves behind; for programs that are no tests.
///
/// ```swift
/// let leaks = findLeaks { openAndCloseADocument() }
/// for leak in leaks { print(leak) }
/// ```
///
/// Deliveries that are pending when the body returns are made first. The calling thread waits; if it is the main thread
/// its run loop runs meanwhile. In a turn of the main queue, such as a function on the main actor that a task has called,
/// deliveries to `.main` cannot come before it returns: write `await` there. Nothing of this needs a framework for tests;
/// in tests `TetherVerification` has `verifyNoLeaks`, which fails the test.
/// - Parameters:
///   - limit: How long deliveries that are pending when the body returns may take.
///   - release: How long to wait then for what is still there, because a thread or a task of the body's own may be about
///     to let it go; not longer than `limit`. Only a body that leaves something behind waits that long.
///   - explanation: How long the search may take, in all, for why things are still there. What it did not get to is said
///     to be untold.
///   - body: What to run, in a scope of its own: `LeakTracker.current`.
/// - Returns: Each thing that is left: a sentence that says why, and a picture.
@available(*, noasync, message: "Write 'await' before it, which suspends instead of blocking.")
@_disfavoredOverload
public func findLeaks(
    within limit: Duration = .seconds(10), release: Duration = .seconds(2), explanation: Duration = .seconds(2),
    _ body: () throws -> Void
) rethrows -> [LeakTracker.Leak] {
    let scope = LeakTracker(explanation: explanation)
    try LeakTracker.$scope.withValue(LeakTracker.Scope(scope)) { try body() }
    return scope.verifyBlocking(LeakTracker.Limits(deliveries: limit, release: release, explanation: explanation)).map {
        LeakTracker.Leak($0.message, $0.picture)
    }
}

/// Runs an asynchronous body in a scope of its own, and returns what it leaves behind; for programs that are no tests.
///
/// See `findLeaks(within:release:explanation:_:)`; here nothing blocks.
/// - Parameters:
///   - limit: How long deliveries that are pending when the body returns may take.
///   - release: How long to wait then for what is still there; not longer than `limit`.
///   - explanation: How long the search may take, in all, for why things are still there.
///   - isolation: The actor of the caller, on which the body runs; leave it out.
///   - body: What to run, in a scope of its own: `LeakTracker.current`.
public func findLeaks(
    within limit: Duration = .seconds(10), release: Duration = .seconds(2), explanation: Duration = .seconds(2),
    isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Void
) async rethrows -> [LeakTracker.Leak] {
    let scope = LeakTracker(explanation: explanation)
    try await LeakTracker.$scope.withValue(LeakTracker.Scope(scope)) { try await body() }
    return await scope.verify(LeakTracker.Limits(deliveries: limit, release: release, explanation: explanation)).map {
        LeakTracker.Leak($0.message, $0.picture)
    }
}
