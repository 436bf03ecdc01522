import Dispatch
import Testing
import Tether

/// An executor of an actor's own, whose jobs wait until a test runs them on its thread.
final class ManualExecutor: SerialExecutor {
    private let jobs = Locked<[UnownedJob]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    /// How many jobs wait.
    var count: Int { jobs.withLock(\.count) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        arrivals.signal()
    }

    /// Runs one job, as soon as there is one; a task comes to its actor's executor by way of
    /// another thread.
    func runNext(sourceLocation: SourceLocation = #_sourceLocation) {
        guard arrives(sourceLocation) else { return }
        let job = jobs.withLock { $0.removeFirst() }
        unsafe job.runSynchronously(on: asUnownedSerialExecutor())
    }

    /// Waits for a job, and leaves it where it is.
    func expectJob(sourceLocation: SourceLocation = #_sourceLocation) {
        if arrives(sourceLocation) { arrivals.signal() }
    }

    private func arrives(_ sourceLocation: SourceLocation) -> Bool {
        let hasArrived = arrivals.wait(timeout: .now() + longestWait) == .success
        if !hasArrived {
            Issue.record("No job came to the executor.", sourceLocation: sourceLocation)
        }
        return hasArrived
    }
}

/// An actor with an executor of its own, which records the calls of its methods.
actor Recorder {
    private let executor: ManualExecutor
    private(set) var entries: [String] = []
    private let log: Log<String>
    private let atDeinit: @Sendable () -> Void

    init(
        on executor: ManualExecutor, log: Log<String>, atDeinit: @escaping @Sendable () -> Void = {}
    ) {
        self.executor = executor
        self.log = log
        self.atDeinit = atDeinit
    }

    deinit { atDeinit() }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    /// Adds to its own state, and to the log, to be looked at from outside.
    func record(_ entry: String) {
        preconditionIsolated()
        entries.append(entry)
        log.add(entry)
    }
}
