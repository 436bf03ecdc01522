import Tether

/// Stores submitted jobs until the test runs or drops them.
final class ManualScheduler: DeliveryScheduler {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var scheduled = 0
    }

    private let state = Locked(State())
    private let atDeinit: @Sendable () -> Void

    init(atDeinit: @escaping @Sendable () -> Void = {}) {
        self.atDeinit = atDeinit
    }

    deinit { atDeinit() }

    /// How many jobs were asked for, in all.
    var scheduled: Int { state.withLock(\.scheduled) }

    /// How many jobs wait.
    var waiting: Int { state.withLock(\.jobs.count) }

    func schedule(_ job: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.jobs.append(job)
            state.scheduled += 1
        }
    }

    /// Removes the oldest job without running it.
    func take() -> (@Sendable () -> Void)? {
        state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
    }

    /// Runs the oldest job, if any.
    func runNext() { take()?() }

    /// Runs jobs, also jobs that were submitted meanwhile, until none is left.
    func runAll() {
        while let job = take() { job() }
    }

    /// Releases all jobs.
    func dropAll() {
        let jobs = state.withLock { state in
            let jobs = state.jobs
            state.jobs = []
            return jobs
        }
        withExtendedLifetime(jobs) {}
    }
}
