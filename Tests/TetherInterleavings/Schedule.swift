import Foundation

@testable import Tether

/// Runs a few threads, exactly one at a time, and decides at each point which thread goes on. The
/// same seed makes the same decisions.
final class Schedule {
    private enum Status { case ready, blocked, waiting, finished }

    private final class Worker {
        var status = Status.ready
        var priority = 0
        let turn = DispatchSemaphore(value: 0)
        var handle: pthread_t?
    }

    nonisolated(unsafe) static var current: Schedule!
    private static let mostPoints = 100_000

    /// The running thread; `nil` while none of the threads runs.
    private(set) var thread: Int?
    private(set) var points = 0
    private(set) var switches = 0
    /// All decisions, as one number.
    private(set) var fingerprint: UInt64 = 0
    private let fail: (String) -> Never
    private var random: SplitMix64
    /// A random walk: another thread goes on at about each `interval`-th point. Without an interval,
    /// the thread of the highest priority goes on, and at the points `changes` the running thread
    /// gets the lowest priority (PCT: Burckhardt et al. 2010, "A Randomized Scheduler with
    /// Probabilistic Guarantees of Finding Bugs").
    private let interval: Int?
    private var changes: [Int] = []
    private var workers: [Worker] = []
    /// How many tries of locks have failed since a thread left a lock.
    private var failedTries = 0
    /// Whether a thread has become ready since the last decision.
    private var hasWoken = false
    private let areFinished = DispatchSemaphore(value: 0)

    init(seed: UInt64, fail: @escaping (String) -> Never) {
        self.fail = fail
        random = SplitMix64(seed: seed)
        interval = [3, 10, 40, nil, nil, nil, nil, nil, nil].randomElement(using: &random)!
        let length = [60, 150, 400].randomElement(using: &random)!
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            changes.append(Int.random(in: 1...length, using: &random))
        }
        Schedule.current = self
    }

    /// Runs the bodies to their ends, each on a thread.
    func run(_ bodies: [() -> Void]) {
        for body in bodies { start(body) }
        for (worker, priority) in zip(workers, Array(1...bodies.count).shuffled(using: &random)) {
            worker.priority = priority
        }
        Interleaving.schedule = { Schedule.current.reach(Interleaving.Point(rawValue: $0)!) }
        resume(choose(.ready)!)
        areFinished.wait()
    }

    private func start(_ body: @escaping () -> Void) {
        let worker = Worker()
        workers.append(worker)
        let hasStarted = DispatchSemaphore(value: 0)
        let thread = Thread { [self] in
            worker.handle = pthread_self()
            hasStarted.signal()
            worker.turn.wait()
            body()
            finish(worker)
            // The thread's exit would be an event of its own.
            worker.turn.wait()
        }
        thread.start()
        hasStarted.wait()
    }

    private func finish(_ worker: Worker) {
        worker.status = .finished
        wake(.blocked)
        wake(.waiting)
        if let next = choose(.ready) { return resume(next) }
        thread = nil
        areFinished.signal()
    }

    // MARK: Points

    /// Returns whether the caller is the running thread, and not another thread of the process.
    private func reach(_ point: Interleaving.Point) -> Bool {
        guard let thread, pthread_equal(pthread_self(), workers[thread].handle!) != 0 else {
            return false
        }
        points += 1
        if points > Schedule.mostPoints { fail("no progress after \(points) points") }
        switch point {
        case .step:
            preempt(thread)
        case .unlocked:
            wake(.blocked)
            preempt(thread)
        case .signalled:
            wake(.waiting)
        case .blocked:
            failedTries += 1
            if failedTries > 2 * workers.count { fail("deadlock: all threads wait for locks") }
            leave(thread, .blocked)
        case .waiting:
            leave(thread, .waiting)
        }
        return true
    }

    /// Makes the threads ready that were waiting for a lock, or for a signal. Each tries again.
    private func wake(_ status: Status) {
        failedTries = 0
        for worker in workers where worker.status == status {
            worker.status = .ready
            hasWoken = true
        }
    }

    /// Another thread goes on while the running thread cannot.
    private func leave(_ thread: Int, _ reason: Status) {
        workers[thread].status = reason
        guard let next = choose(.ready) ?? choose(.blocked) else {
            fail("deadlock: all threads wait")
        }
        workers[next].status = .ready
        go(from: thread, to: next)
    }

    private func preempt(_ thread: Int) {
        if let interval {
            guard Int.random(in: 0..<interval, using: &random) == 0 else { return }
        } else if changes.contains(points) {
            workers[thread].priority = -points
        } else if !hasWoken {
            return
        }
        hasWoken = false
        go(from: thread, to: choose(.ready)!)
    }

    private func choose(_ status: Status) -> Int? {
        let candidates = workers.indices.filter { workers[$0].status == status }
        if interval != nil { return candidates.randomElement(using: &random) }
        return candidates.max { workers[$0].priority < workers[$1].priority }
    }

    private func go(from here: Int, to next: Int) {
        guard next != here else { return }
        resume(next)
        workers[here].turn.wait()
    }

    private func resume(_ next: Int) {
        switches += 1
        fingerprint = (fingerprint &* 31 &+ UInt64(points)) &* 31 &+ UInt64(next)
        thread = next
        workers[next].turn.signal()
    }
}
