import Dispatch
import Foundation
import Testing

/// Runs each body on a thread of its own and waits for all; false, and a failure, if one does not return.
@discardableResult
func onThreads(
    _ bodies: [@Sendable () -> Void], sourceLocation: SourceLocation = #_sourceLocation
) -> Bool {
    expectBlockingIsAllowed(sourceLocation: sourceLocation)
    let done = bodies.map { body in
        let done = DispatchSemaphore(value: 0)
        Thread {
            body()
            done.signal()
        }.start()
        return done
    }
    // Less than a test may take where that is said, so that what does not return fails its test.
    let testLimit = ProcessInfo.processInfo.environment["TETHER_TEST_LIMIT"].flatMap(Double.init) ?? 0
    let deadline = DispatchTime.now() + (testLimit > 0 ? min(300, testLimit * 3 / 4) : 300)
    let haveReturned = done.map { $0.wait(timeout: deadline) == .success }.allSatisfy(\.self)
    if !haveReturned { Issue.record("A thread did not return.", sourceLocation: sourceLocation) }
    return haveReturned
}

@discardableResult
func onThreads(
    _ bodies: (@Sendable () -> Void)..., sourceLocation: SourceLocation = #_sourceLocation
) -> Bool {
    onThreads(bodies, sourceLocation: sourceLocation)
}
