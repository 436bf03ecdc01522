public import Testing

/// Fails a test that leaves behind an observer, an owner that was observed for, or a tracked object.
///
/// See `Trait.verifiesNoLeaks`.
public struct NoLeaksTrait: TestTrait, SuiteTrait, TestScoping {
    let limit: Duration

    /// On a suite, every test in it is verified.
    public var isRecursive: Bool { true }

    /// Runs a test in a scope of its own, and verifies that. A test that throws has failed, and is not verified.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let scope = LeakTracker()
        try await LeakTracker.$current.withValue(scope) { try await function() }
        let findings = await scope.verify(LeakTracker.Limits(limit))
        Verdict(findings: findings, unattributed: scope.unattributed()).report(at: test.sourceLocation)
    }
}

extension Trait where Self == NoLeaksTrait {
    /// Fails the test, or each test of the suite, that leaves something behind: an observer that is still active, an
    /// owner of an observer that is still alive, an object given to `track(_:)` that is still alive.
    ///
    /// ```swift
    /// @Test(.verifiesNoLeaks) func `closing the window lets the sidebar go`() {
    ///     let window = Window(center: .default)
    ///     track(window.sidebar)
    ///     window.close()
    /// }
    /// ```
    ///
    /// Deliveries that are pending when the test returns, on whatever target, are made first, and waited for as they
    /// are, up to the limit. Each failure says why the thing is still there, as far as that can be found out, at the line
    /// of the registration, or of `track(_:)`; one more is recorded at the line of the test. Tests may run in parallel,
    /// also on `ObserverCenter.default`; for work on queues and threads see `LeakTracker.adopt(_:)`.
    public static var verifiesNoLeaks: Self { verifiesNoLeaks(limit: .seconds(10)) }

    /// As `verifiesNoLeaks`, with a limit for deliveries that are pending when the test returns.
    public static func verifiesNoLeaks(limit: Duration) -> Self { NoLeaksTrait(limit: limit) }
}
