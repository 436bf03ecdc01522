import Dispatch
import Foundation
import Testing

/// Runs each body on a thread of its own and waits for all; false, and a failure, if one does not return.
@discardableResult
func onThreads(
    _ bodies: [@Sendable () -> Void], sourceLocation: SourceLocation = #_sourceLocation
) -> Bool {
    let done = bodies.map { body in
        let done = DispatchSemaphore(value: 0)
        Thread {
            body()
            done.signal()
        }.start()
        return done
    }
    let deadline = DispatchTime.now() + 300
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
