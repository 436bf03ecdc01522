/// Where deliveries run, for `DeliveryTarget.custom(_:)`: something that runs a job later, in a context of its own.
///
/// One job stands for everything that is pending on the target when it runs, so a burst of posts asks for one job
/// (contract D7). A scheduler should run the jobs one after the other. A job may be dropped without being run: what
/// it stood for is then dropped and counted.
///
/// *Thread safety*: `schedule(_:)` is called on posting threads, with no lock of Tether's held.
public protocol DeliveryScheduler: AnyObject, Sendable {
    /// Arranges for `job` to run once. Running it again does nothing.
    func schedule(_ job: @escaping @Sendable () -> Void)
}

/// A scheduler one of whose jobs makes one delivery, for tests that take them one by one.
package protocol SteppingScheduler: DeliveryScheduler {}

/// How a mailbox gets its drains run.
protocol DrainScheduler: Sendable {
    func schedule(_ drain: Drain)

    /// Whether the caller is already where the drains run, so that a delivery may be made inline (D3).
    var isCurrent: Bool { get }

    /// Whether that can be at all.
    var mayBeCurrent: Bool { get }

    /// The actor that drains run on, held for one of them.
    var heldActor: (any Actor)? { get }
}

extension DrainScheduler {
    var isCurrent: Bool { false }
    var mayBeCurrent: Bool { false }
    var heldActor: (any Actor)? { nil }
}

/// Jobs of the user's own scheduler.
struct CustomDrains: DrainScheduler {
    let scheduler: any DeliveryScheduler

    func schedule(_ drain: Drain) {
        let limit = scheduler is any SteppingScheduler ? 1 : Int.max
        scheduler.schedule { drain.run(atMost: limit) }
    }
}
