internal import Synchronization

/// Where deliveries run, for `DeliveryTarget.custom(_:)`: something that runs a job later, in a context of its own.
///
/// Each post makes one job, which calls the handlers of all observers that the post reaches here (contract
/// D2). A scheduler should run the jobs one after the other, in order. A job may be dropped without being
/// run: what it would have delivered is then dropped and counted.
///
/// *Thread safety*: `schedule(_:)` is called on posting threads, and on threads that switch a target, with no lock of Tether's
/// held.
public protocol DeliveryScheduler: AnyObject, Sendable {
    /// Arranges for `job` to run once. Running it again does nothing.
    ///
    /// It may run the job before it returns, on this thread.
    /// - Parameter job: What to run later, once.
    func schedule(_ job: @escaping @Sendable () -> Void)
}

/// A scheduler of the user's own.
final class CustomTarget: BoundTarget, @unchecked Sendable {
    private let scheduler: any DeliveryScheduler

    init(_ target: DeliveryTarget, _ scheduler: any DeliveryScheduler) {
        self.scheduler = scheduler
        super.init(target, place: ObjectIdentifier(scheduler))
    }

    override func schedule(_ block: Block) {
        let block = CancellableBlock(block)
        guard AsyncRun.current != nil else { return scheduler.schedule { block.run() } }
        // A task that the scheduler starts must not inherit the async handler's call that posts here.
        AsyncRun.$current.withValue(nil) { scheduler.schedule { block.run() } }
    }

    override var isCurrent: Bool { false }
}
