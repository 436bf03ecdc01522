public import Tether

/// A target whose deliveries run when the test says so, on the test's own thread: one, or all, in order.
///
/// ```swift
/// let target = ManualTarget()
/// center.observe(
///     .modelDidChange, owner: sidebar, on: target.target
/// ) { sidebar, _ in sidebar.reload() }
/// center.post(name: .modelDidChange, object: model)
/// #expect(sidebar.reloads == 0)
/// #expect(target.runOne())
/// #expect(sidebar.reloads == 1)
/// ```
///
/// *Delivery*: all observers that deliver to one instance share one order, that of posting, as those of any target do:
/// see [what Tether promises](/documentation/tether/contract). What is pending when the instance and its observers have gone is
/// dropped.
///
/// *Thread safety*: any thread. Two threads that run deliveries at the same time share them out.
public final class ManualTarget: DeliveryScheduler {
    private let jobs = Guarded<[@Sendable () -> Void]>([])

    /// Makes a target of which nothing is pending.
    public init() {}

    /// The target to pass as `on:`.
    public var target: DeliveryTarget { .custom(self) }

    /// Whether there is something to run. A delivery whose observer has stopped counts until its turn has come.
    public var isPending: Bool { jobs.withLock { !$0.isEmpty } }

    /// Makes the next delivery, and returns whether there was one.
    @discardableResult
    public func runOne() -> Bool {
        guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
        job()
        return true
    }

    /// Makes deliveries until none is pending, those included that handlers cause by posting meanwhile.
    /// - Parameter limit: How many at most, so that a handler which posts to itself is not served for ever.
    /// - Returns: How many there were.
    @discardableResult
    public func runAll(limit: Int = 10_000) -> Int {
        var count = 0
        while count < limit, runOne() { count += 1 }
        return count
    }

    /// Drops all that is pending; the audit counts it as dropped.
    public func dropAll() {
        let dropped = jobs.withLock { jobs in
            let dropped = jobs
            jobs = []
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// Keeps a job until it is to be run; called by the observers' side.
    /// - Parameter job: What `runOne()` or `runAll(limit:)` runs.
    public func schedule(_ job: @escaping @Sendable () -> Void) { jobs.withLock { $0.append(job) } }
}
