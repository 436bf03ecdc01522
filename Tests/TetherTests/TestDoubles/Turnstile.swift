import Dispatch
import Testing

/// What one thread waits for and another lets happen: closed until it is opened, then open for ever.
final class Turnstile: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Waits until it is open; an issue if that takes longer than anything should.
    func pass(sourceLocation: SourceLocation = #_sourceLocation) {
        expectBlockingIsAllowed(sourceLocation: sourceLocation)
        let result = semaphore.wait(timeout: .now() + 300)
        #expect(result == .success, "nobody opened the turnstile", sourceLocation: sourceLocation)
        semaphore.signal()
    }
}
