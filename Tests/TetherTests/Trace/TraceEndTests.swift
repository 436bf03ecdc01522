#if os(Linux) || os(macOS)

import Foundation
import Testing

import Tether

/// The traced ends, with their causes. Each test has a process of its own.
@Suite(.ownThread, .serialized) struct TraceEndTests {
    @Test func `L5 R7 a once observer that is cancelled before its delivery was not called`() async
    {
        await #expect(processExitsWith: .success) {
            let (center, scheduler) = (ObserverCenter(), ManualScheduler())
            let token = center.observe(.sample, on: .custom(scheduler), once: true) { _ in }
            let events = try TracedEvent.events {
                center.post(name: .sample, object: nil)
                token.cancel()
            }
            let end = try #require(events.first { $0.name == "end of observer sample" })
            #expect(end.arguments["because"] as? String == "it was cancelled or replaced")
        }
    }

    @Test func `L5 R7 a once observer whose delivery is dropped is traced as dropped`() async {
        await #expect(processExitsWith: .success) {
            let (center, queue) = (ObserverCenter(), OperationQueue())
            queue.isSuspended = true
            let token = center.observe(.sample, on: .operationQueue(queue), once: true) { _ in }
            let events = try TracedEvent.events {
                center.post(name: .sample, object: nil)
                queue.cancelAllOperations()
            }
            let end = try #require(events.first { $0.name == "end of observer sample" })
            #expect(end.arguments["because"] as? String == "its one delivery was dropped")
            // A suspended queue would retain itself through its operation.
            queue.isSuspended = false
            queue.settle()
            withExtendedLifetime(token) {}
        }
    }
}

#endif
