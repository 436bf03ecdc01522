import Dispatch
import Testing

/// Lets one waiter through for each time that it is opened; a wait that is too long is a failure.
struct Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    @discardableResult
    func pass(sourceLocation: SourceLocation = #_sourceLocation) -> Bool {
        expectBlockingIsAllowed(sourceLocation: sourceLocation)
        let isOpen = semaphore.wait(timeout: .now() + 300) == .success
        if !isOpen { Issue.record("A gate stayed closed.", sourceLocation: sourceLocation) }
        return isOpen
    }
}
