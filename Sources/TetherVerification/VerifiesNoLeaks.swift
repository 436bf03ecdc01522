public import Testing
@_exported public import TetherTesting

/// Fails a test that leaves behind an observer, an owner that was observed for, or a tracked object.
///
/// See `Trait.verifiesNoLeaks`.
public struct NoLeaksTrait: TestTrait, SuiteTrait, TestScoping {
    let limits: LeakTracker.Limits

    /// On a suite, every test in it is verified.
    public var isRecursive: Bool { true }

    /// Runs a test in a scope of its own, and verifies that. A test that throws has failed, and is not verified.
    /// - Parameters:
    ///   - test: The test.
    ///   - testCase: Its arguments; `nil` around a whole suite.
    ///   - function: What runs the test.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let scope = LeakTracker(explanation: limits.explanation)
        try await LeakTracker.$scope.withValue(LeakTracker.Scope(scope)) { try await function() }
        let findings = await scope.verify(limits)
        Verdict(findings: findings, unattributed: scope.unattributed()).report(at: test.sourceLocation)
    }
}

extension Trait where Self == NoLeaksTrait {
    /// Fails the test, or each test of the suite, that leaves something behind: an observer that is still active, an
    /// owner of an observer that is still alive, an object given to `track(_:)` that is still alive.
    ///
    /// ```swift
    /// @Test(.verifiesNoLeaks) func `a closed window lets go`() {
    ///     let window = Window(center: .default)
    ///     track(window.sidebar)
    ///     window.close()
    /// }
    /// ```
    ///
    /// Deliveries that are pending when the test returns, on whatever target, are made first, and waited for as they
    /// are, up to the limit. Each thing that is left is one failure. It says why the thing is still there, as far as that
    /// can be found out, and stands at the line of the registration, or of `track(_:)`; at the test, where that file is
    /// not on this machine. Tests may run in parallel, also on `ObserverCenter.default`; for work on queues and threads
    /// see `LeakTracker.adopt(_:)`.
    public static var verifiesNoLeaks: Self { verifiesNoLeaks() }

    /// As `verifiesNoLeaks`, with limits of its own.
    /// - Parameters:
    ///   - limit: How long deliveries that are pending when the test returns may take.
    ///   - release: How long to wait then for what is still there, because a thread or a task of the test's own may be
    ///     about to let it go; not longer than `limit`. Only a test that leaves something behind waits that long.
    ///   - explanation: How long the search may take, in all, for why things are still there. What it did not get to is
    ///     said to be untold.
    public static func verifiesNoLeaks(
        within limit: Duration = .seconds(10), release: Duration = .seconds(2), explanation: Duration = .seconds(2)
    ) -> Self {
        NoLeaksTrait(limits: LeakTracker.Limits(deliveries: limit, release: release, explanation: explanation))
    }
}
