import Dispatch
import Testing

/// Lets a waiter through for each call of `open()`. A wait that is too long is a failure.
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

/// A latch: a thread waits until another thread opens the latch. An open latch stays open.
final class Latch: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Waits until the latch is open. A wait beyond the limit of all waits is an issue.
    func pass(sourceLocation: SourceLocation = #_sourceLocation) {
        expectBlockingIsAllowed(sourceLocation: sourceLocation)
        let result = semaphore.wait(timeout: .now() + longestWait)
        #expect(result == .success, "nobody opened the latch", sourceLocation: sourceLocation)
        semaphore.signal()
    }
}
