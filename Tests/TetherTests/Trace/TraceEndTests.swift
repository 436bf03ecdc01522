#if os(Linux) || os(macOS)

import Foundation
import Testing

@testable import Tether

@MainActor private final class Postponed {
    nonisolated init() {}

    isolated deinit {}
}

/// What a trace tells of ends, and why they come. Each test has a process of its own.
@Suite(.ownThread, .serialized) struct TraceEndTests {
    @Test func `L5 R7 a once observer that is stopped before its delivery was not called`() async {
        await #expect(processExitsWith: .success) {
            let (center, scheduler) = (ObserverCenter(), ManualScheduler())
            let token = center.observe(.sample, on: .custom(scheduler), once: true) { _ in }
            let events = try TracedEvent.events {
                center.post(name: .sample, object: nil)
                token.cancel()
            }
            let end = try #require(events.first { $0.name == "end of observer sample" })
            #expect(end.arguments["because"] as? String == "it was stopped or replaced")
        }
    }

    @Test func `L5 an observer that ends with its receiver is told once, by its name`() async {
        await #expect(processExitsWith: .success) {
            let (center, receiver) = (ObserverCenter(), Holder(Plain()))
            let property = NotificationObserver(center: center)
            property.connect(.sample, to: receiver.object!) { _ in }
            let events = try TracedEvent.events { receiver.release() }
            let ends = events.filter { $0.name.hasPrefix("end of observer") }
            #expect(ends.map(\.name) == ["end of observer sample"])
            #expect(ends[0].arguments["because"] as? String == "the object that it is connected to ends")
            withExtendedLifetime(property) {}
        }
    }

    @Test func `L5 R7 a once observer whose delivery is dropped is told as that`() async {
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
            // A suspended queue would keep itself, with its operation.
            queue.isSuspended = false
            queue.settle()
            withExtendedLifetime(token) {}
        }
    }

    @Test func `L5 M5 an end that is postponed to an actor is told once`() async {
        await #expect(processExitsWith: .success) {
            let center = ObserverCenter()
            let sender = Holder(Postponed())
            let token = center.observe(.sample, from: sender.object!) { _ in }
            let (isBlocked, gate) = (Latch(), Latch())
            Task { @MainActor in
                isBlocked.open()
                gate.wait()
            }
            let events = try TracedEvent.events {
                isBlocked.wait()
                onThreads { sender.release() }
                for _ in 0..<3 { OwnerLifetime.purge() }
            }
            gate.open()
            #expect(events.count { $0.name.hasPrefix("end of Postponed") } == 1)
            withExtendedLifetime(token) {}
        }
    }
}

#endif
