import Tether

/// A scheduler that holds its jobs until a test runs or drops them.
final class HeldJobs: DeliveryScheduler {
    private let jobs = Guarded<[@Sendable () -> Void]>([])
    private let atDeinit: @Sendable () -> Void

    init(atDeinit: @escaping @Sendable () -> Void = {}) {
        self.atDeinit = atDeinit
    }

    deinit { atDeinit() }

    var count: Int { jobs.withLock { $0.count } }

    func schedule(_ job: @escaping @Sendable () -> Void) { jobs.withLock { $0.append(job) } }

    /// Runs all jobs, and those that they schedule.
    func run() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { job() }
    }

    /// Drops all jobs without running them.
    func drop() {
        let dropped = jobs.withLock { jobs in
            let dropped = jobs
            jobs = []
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }
}
