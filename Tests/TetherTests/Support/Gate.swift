import Dispatch

/// Something to wait for, once or several times; waiting for half a minute is a failure.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    func wait() {
        guard semaphore.wait(timeout: .now() + 30) == .success else { fatalError("The gate was not opened.") }
        semaphore.signal()
    }
}
