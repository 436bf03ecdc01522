public import Tether

/// A target whose deliveries run when the test calls `runOne()` or `runAll(limit:)`, in order, on
/// the calling thread.
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
/// *Delivery*: a post makes one job, which delivers to all observers on the instance. After a
/// switch of an observer's target each moved delivery has a job of its own. The jobs run in the
/// order of posting, as on any target: see [what Tether promises](/documentation/tether/contract).
/// Pending deliveries are dropped when the instance and its observers are deallocated.
///
/// *Thread safety*: any thread. Threads may run jobs at the same time; each job runs once.
public final class ManualTarget: DeliveryScheduler {
    /// A slice, whose first element is removed without moving the others.
    private let jobs = Locked<ArraySlice<@Sendable () -> Void>>([])

    /// Makes a target without pending deliveries.
    public init() {}

    /// The target to pass as `on:`.
    public var target: DeliveryTarget { .custom(self) }

    /// Whether jobs are pending. A job counts until it is run, even if its observers were
    /// cancelled.
    public var isPending: Bool { jobs.withLock { !$0.isEmpty } }

    /// Runs the next job: the deliveries of one post to all observers on this target. Returns
    /// `false` if no job was pending.
    @discardableResult
    public func runOne() -> Bool {
        guard let job = jobs.withLock({ $0.popFirst() }) else { return false }
        job()
        return true
    }

    /// Runs jobs until none is pending, including those of posts by the handlers.
    /// - Parameter limit: The greatest number of jobs, which ends the run if a handler posts to
    ///   itself.
    /// - Returns: The number of jobs.
    @discardableResult
    public func runAll(limit: Int = 10_000) -> Int {
        var count = 0
        while count < limit, runOne() { count += 1 }
        return count
    }

    /// Drops all pending deliveries, which the audit counts as dropped.
    public func dropAll() {
        let dropped = jobs.withLock { jobs in
            let dropped = jobs
            jobs = []
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// Keeps a job until `runOne()` or `runAll(limit:)` runs it. Tether calls the method.
    public func schedule(_ job: @escaping @Sendable () -> Void) { jobs.withLock { $0.append(job) } }
}
