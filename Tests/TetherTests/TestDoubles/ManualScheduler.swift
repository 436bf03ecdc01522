import Tether

/// Holds the jobs it is given until the test runs or drops them.
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

    /// Takes the oldest job out, without running it.
    func take() -> (@Sendable () -> Void)? {
        state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
    }

    /// Runs the oldest job, if there is one.
    func runNext() { take()?() }

    /// Runs jobs, also those that running makes, until none waits.
    func runAll() {
        while let job = take() { job() }
    }

    /// Lets go of all jobs.
    func dropAll() {
        let jobs = state.withLock { state in
            let jobs = state.jobs
            state.jobs = []
            return jobs
        }
        withExtendedLifetime(jobs) {}
    }
}
