public import Testing
@_exported public import TetherTesting

/// Fails a test that leaves behind an observer, an owner of an observer, or a tracked object.
///
/// See `Trait.verifiesNoLeaks`.
public struct NoLeaksTrait: TestTrait, SuiteTrait, TestScoping {
    let limits: LeakTracker.Limits

    /// On a suite, the trait verifies every test.
    public var isRecursive: Bool { true }

    /// Runs a test in a new scope, and verifies the scope. A test that throws has failed, and is
    /// not verified.
    /// - Parameters:
    ///   - test: The test.
    ///   - testCase: The arguments of the test; `nil` around a whole suite.
    ///   - function: The body of the test.
    public func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await LeakTracker.run(limits, function).1.report(at: test.sourceLocation)
    }
}

extension Trait where Self == NoLeaksTrait {
    /// Fails the test, or each test of the suite, that leaves behind an active observer, a living
    /// owner of an observer, or a living object given to `track(_:)`.
    ///
    /// ```swift
    /// @Test(.verifiesNoLeaks) func `a closed window lets go`() {
    ///     let window = Window(center: .default)
    ///     track(window.sidebar)
    ///     window.close()
    /// }
    /// ```
    ///
    /// The verification first waits, up to the limit, for deliveries that are pending on any target
    /// when the test returns. Each thing left behind is one failure, which names the holder if the
    /// search finds one. The failure stands at the line of the registration or of `track(_:)`, or
    /// at the test if the file is not on this machine. Tests may run in parallel, also on
    /// `ObserverCenter.default`. For work on queues and threads see `LeakTracker.adopt(_:)`.
    public static var verifiesNoLeaks: Self { verifiesNoLeaks(limits: .init()) }

    /// Verifies as `verifiesNoLeaks` does, with the given limits, such as `.init(deliveryWait:
    /// .seconds(30))`.
    public static func verifiesNoLeaks(limits: LeakTracker.Limits) -> Self {
        NoLeaksTrait(limits: limits)
    }
}
