import Foundation
import Testing
import Tether

/// A global actor whose jobs run when the test says so, on the test's thread.
@globalActor actor HeldActor {
    static let shared = HeldActor()
    private static let executor = HeldExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe HeldActor.executor.asUnownedSerialExecutor()
    }

    /// Runs the actor's jobs until a condition holds. Tests of the actor must not run in parallel.
    static func run(
        until condition: @autoclosure () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let limit = ContinuousClock.now + .seconds(longestWait)
        while !condition() {
            executor.run()
            guard ContinuousClock.now < limit else {
                Issue.record(
                    "The actor's job did not come in time.", sourceLocation: sourceLocation)
                return
            }
            sched_yield()
        }
    }
}

/// An executor that stores jobs until `run()`.
private final class HeldExecutor: SerialExecutor {
    private let jobs = Locked<[UnownedJob]>([])
    private let running = Locked(false, rank: nil)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    func run() {
        running.withLock { _ in
            while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                unsafe job.runSynchronously(on: asUnownedSerialExecutor())
            }
        }
    }
}

/// An object whose `deinit` runs on `HeldActor`.
@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
@HeldActor final class IsolatedObject {
    private let log: Log<String>
    private let atEnd: @Sendable (IsolatedObject) -> Void

    nonisolated init(
        _ log: Log<String>, atEnd: @escaping @Sendable (IsolatedObject) -> Void = { _ in }
    ) {
        self.log = log
        self.atEnd = atEnd
    }

    isolated deinit {
        log.add("isolated deinit")
        atEnd(self)
    }
}
