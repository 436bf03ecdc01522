/// Where deliveries run, for `DeliveryTarget.custom(_:)`: something that runs a job later, in a context of its own.
///
/// One job stands for everything that is pending on the target when it runs, so a burst of posts asks for one job
/// (contract [D7](doc:Contract#D7)). A scheduler should run the jobs one after the other. A job may be dropped without
/// being run: what it stood for is then dropped and counted.
///
/// *Thread safety*: `schedule(_:)` is called on posting threads and, for what came while a job ran, at the end of that job
/// where that runs, with no lock of Tether's held.
public protocol DeliveryScheduler: AnyObject, Sendable {
    /// Arranges for `job` to run once. Running it again does nothing.
    ///
    /// It may run the job before it returns, on this thread, or wait for one that runs on another: a handler there that calls
    /// `stopAndWait()` does not wait for the post that is in here, but for a handler that makes it. A scheduler that waits has to
    /// run the job at once where it is called in a job of its own, which would wait for itself: in a handler that posts to its
    /// own target, and at the end of a job during which another thread has posted.
    /// - Parameter job: What to run later, once.
    func schedule(_ job: @escaping @Sendable () -> Void)
}
