internal import Synchronization

/// Jobs of the user's own scheduler.
struct CustomDrains: DrainScheduler {
    let scheduler: any DeliveryScheduler

    var mayWait: Bool { true }

    func schedule(_ drain: Drain) {
        let limit = scheduler is any SteppingScheduler ? 1 : Int.max
        guard let call = AsyncRun.current else { return scheduler.schedule { drain.run(atMost: limit) } }
        // The scheduler may start a task, which would inherit the async handler's call that posts here: a drain is part of that
        // only where it is run before `schedule` returns, on this thread.
        let inline = Inline()
        AsyncRun.$current.withValue(nil) {
            scheduler.schedule {
                if inline.isUnderWay {
                    AsyncRun.$current.withValue(call) { drain.run(atMost: limit) }
                } else {
                    drain.run(atMost: limit)
                }
            }
        }
        inline.hasEnded.store(true, ordering: .relaxed)
    }

    /// One call of a scheduler, which only the thread that makes it takes note of.
    private final class Inline: Sendable {
        private let thread = PostingThread.current
        let hasEnded = Atomic<Bool>(false)

        var isUnderWay: Bool { PostingThread.current === thread && !hasEnded.load(ordering: .relaxed) }
    }
}
