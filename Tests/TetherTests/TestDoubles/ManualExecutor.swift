import Dispatch
import Testing
import Tether

/// The executor of an actor. A test runs the jobs on the test's thread.
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

    /// Waits for a job, and runs the oldest, or the newest, as an actor may that has a job of a
    /// higher priority. A task reaches its actor's executor by way of another thread.
    func runNext(newest: Bool = false, sourceLocation: SourceLocation = #_sourceLocation) {
        guard arrives(sourceLocation) else { return }
        let job = jobs.withLock { newest ? $0.removeLast() : $0.removeFirst() }
        unsafe job.runSynchronously(on: asUnownedSerialExecutor())
    }

    /// Waits for a job without running it.
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

/// An actor with a manual executor, which records the calls of its methods.
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

    /// Appends to the actor's state, and to the log, which a test can read from outside.
    func record(_ entry: String) {
        preconditionIsolated()
        entries.append(entry)
        log.add(entry)
    }
}
