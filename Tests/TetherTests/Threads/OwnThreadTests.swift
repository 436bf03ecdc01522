import Testing

/// Tests do not wait for each other.
@Suite struct OwnThreadTests {
    private func passOpenGate() {
        let gate = Gate()
        gate.open()
        gate.pass()
    }

    @Test func `a test that blocks a thread of all tasks fails, however short it does`() {
        withKnownIssue { passOpenGate() }
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
