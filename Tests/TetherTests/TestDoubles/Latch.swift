import Dispatch
import Foundation
import Synchronization
import Testing

/// A gate between two threads that is opened once for each wait; not to be opened in time is a failure.
final class Latch: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    func wait(sourceLocation: SourceLocation = #_sourceLocation) {
        expectBlockingIsAllowed(sourceLocation: sourceLocation)
        guard semaphore.wait(timeout: .now() + 300) == .timedOut else { return }
        Issue.record("The latch was not opened in time.", sourceLocation: sourceLocation)
    }
}

/// Runs bodies at the same time, each on a thread of its own, and returns when all have returned.
func allAtOnce(sourceLocation: SourceLocation = #_sourceLocation, _ bodies: (@Sendable () -> Void)...) {
    let waiting = Atomic<Int>(bodies.count)
    let end = Latch()
    for body in bodies {
        Thread.detachNewThread {
            // All begin together, so that even short bodies meet.
            waiting.wrappingSubtract(1, ordering: .acquiringAndReleasing)
            while waiting.load(ordering: .acquiring) > 0 { sched_yield() }
            body()
            end.open()
        }
    }
    for _ in bodies { end.wait(sourceLocation: sourceLocation) }
}
