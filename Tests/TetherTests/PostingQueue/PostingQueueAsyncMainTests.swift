import Foundation
import Testing
import Tether

/// A program whose main queue runs without a run loop, as in the child process of an exit test.
@Suite struct PostingQueueAsyncMainTests {
    @Test func `Q2 without a main run loop the main queue posts, asap before idle`() async {
        await #expect(processExitsWith: .success) {
            let log = Log<String>()
            let done = Gate()
            let token = ObserverCenter.default.observe(.sample) { notification in
                dispatchPrecondition(condition: .onQueue(.main))
                log.add(notification.label)
                if log.entries.count == 2 { done.open() }
            }
            await MainActor.run {
                PostingQueue.main.enqueue(
                    .labelled("idle"), postingStyle: .whenIdle, coalesceMask: .none)
                PostingQueue.main.enqueue(
                    .labelled("asap"), postingStyle: .asap, coalesceMask: .none)
                PostingQueue.main.enqueue(
                    .labelled("never"), postingStyle: .asap, coalesceMask: .none,
                    forModes: [RunLoop.Mode("custom")])
            }
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    done.pass()
                    continuation.resume()
                }
            }
            guard log.entries == ["asap", "idle"] else { fatalError("\(log.entries)") }
            // Posts of a thread without a run loop are not lost silently.
            let waiting = ObserverCenter.default.audit().waitingPosts
            guard waiting.map(\.asap) == [1], waiting.map(\.place) == ["the main thread"] else {
                fatalError("\(waiting)")
            }
            withExtendedLifetime(token) {}
        }
    }

    @Test func `R10 Q2 without a main run loop a queue that another thread used is freed`() async {
        await #expect(processExitsWith: .success) {
            let isFreed = Gate()
            await MainActor.run {
                let queue = PostingQueue(notificationCenter: ObserverCenter())
                OwnerLifetime.whenEnded(queue) { isFreed.open() }
                Thread.detachNewThread {
                    // The main queue does not post in this mode, so it has no block that would
                    // look.
                    queue.enqueue(
                        .labelled("removed"), postingStyle: .asap,
                        forModes: [RunLoop.Mode("custom")])
                    queue.dequeueNotifications(
                        matching: .labelled("removed"), coalesceMask: .onName)
                }
            }
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    guard isFreed.pass() else { fatalError("kept") }
                    continuation.resume()
                }
            }
        }
    }
}
