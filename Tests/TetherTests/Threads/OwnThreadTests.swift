import Testing

/// Tests do not wait for each other.
@Suite struct OwnThreadTests {
    /// The number of issues of the test whose issues are wanted.
    @TaskLocal private static var issues: Counter?

    private static let countsIssues = IssueHandlingTrait.filterIssues { _ in
        guard let issues else { return true }
        issues.add()
        return false
    }

    private func passOpenGate() {
        let gate = Gate()
        gate.open()
        gate.pass()
    }

    @Test(countsIssues)
    func `a test that blocks a thread of all tasks fails, also for a short time`() {
        let issues = Counter()
        OwnThreadTests.$issues.withValue(issues) { passOpenGate() }
        #expect(issues.count == 1)
    }

    @Test(.ownThread) func `a test with a thread of its own may block, also after a suspension`()
        async
    {
        passOpenGate()
        await Task.yield()
        await Task.detached {}.value
        passOpenGate()
    }

    @MainActor @Test func `a test on the main actor may block`() {
        passOpenGate()
    }
}
