import Tether

/// A delivery scheduler whose jobs run when the test says so, on the test's thread.
final class HeldScheduler: DeliveryScheduler {
    private let jobs = Guarded<[@Sendable () -> Void]>([])

    func schedule(_ job: @escaping @Sendable () -> Void) { jobs.withLock { $0.append(job) } }

    var count: Int { jobs.withLock(\.count) }

    /// Runs jobs until there are none.
    func run() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { job() }
    }

    /// Drops all jobs without running them.
    func drop() { jobs.withLock { $0 = [] } }
}
