internal import Synchronization

/// A scheduler for `DeliveryTarget.custom(_:)`: runs a job later, in a context of its own.
///
/// Each post makes one job, which calls the handlers of all observers with the scheduler. A
/// scheduler should run the jobs one after the other, in order. A job may be released without a
/// run: the job's deliveries are then dropped and counted.
///
/// *Thread safety*: threads that post, unmute or switch a target call `schedule(_:)`, and so does
/// the thread of a handler that returns after a switch; with no Tether lock held.
public protocol DeliveryScheduler: AnyObject, Sendable {
    /// Arranges for `job` to run once. A second run does nothing.
    ///
    /// The job may run before the function returns, on the calling thread. Such a job is no part of
    /// an async handler that posts: its handlers must not wait for that handler.
    func schedule(_ job: @escaping @Sendable () -> Void)
}

/// SAFETY: the scheduler is a constant and Sendable.
final class CustomTarget: BlockTarget, @unchecked Sendable {
    private let scheduler: any DeliveryScheduler

    init(_ scheduler: any DeliveryScheduler, isBatching: Bool = false) {
        self.scheduler = scheduler
        super.init(queue: ObjectIdentifier(scheduler), isBatching: isBatching)
    }

    override var description: String { "custom \(type(of: scheduler))" }

    override var mayRunInSchedule: Bool { true }

    override func schedule(_ block: __owned Block) {
        let block = CancellableBlock(block)
        // A task that the scheduler starts must not inherit the async handler's call that posts
        // here.
        AsyncRun.$current.withValue(nil) { scheduler.schedule { block.runNestable() } }
    }
}
