import Dispatch
import Testing

/// Lets one waiter through for each time that it is opened; a wait that is too long is a failure.
struct Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    @discardableResult
    func pass(
        within seconds: Double = longestWait, sourceLocation: SourceLocation = #_sourceLocation
    ) -> Bool {
        expectBlockingIsAllowed(sourceLocation: sourceLocation)
        let isOpen = semaphore.wait(timeout: .now() + seconds) == .success
        if !isOpen { Issue.record("A gate stayed closed.", sourceLocation: sourceLocation) }
        return isOpen
    }
}

/// A latch: one thread waits until another opens it. An open latch stays open.
final class Latch: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Waits until it is open; an issue if that takes longer than anything should.
    func pass(sourceLocation: SourceLocation = #_sourceLocation) {
        expectBlockingIsAllowed(sourceLocation: sourceLocation)
        let result = semaphore.wait(timeout: .now() + longestWait)
        #expect(result == .success, "nobody opened the latch", sourceLocation: sourceLocation)
        semaphore.signal()
    }
}
