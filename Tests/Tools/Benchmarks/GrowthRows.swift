import Dispatch
import Foundation
import Tether

// The cost of a delivery beside many others: each row compares many with few in the same run.

extension Benchmark {
    static let growing = [
        targetEnded, muted, manyQueues, manyActors, skipped, lastInFirstOut, heldBack,
    ]

    /// A name whose only observer with a target has ended, beside a name that never had such an
    /// observer.
    private static let targetEnded = Benchmark(
        "post where a target's observer has ended", size: "1 observer",
        reference: "never had one", goal: 1.1
    ) {
        func subject(withTarget: Bool) -> Subject {
            let (center, sink) = (ObserverCenter(), Sink())
            let token = center.observe(.measured) { _ in addOne(sink) }
            if withTarget {
                center.observe(.measured, on: .custom(Jobs())) { _ in }.cancel()
            }
            return Subject(count: 100_000, keeping: token) { count in
                for _ in 0..<count { center.post(name: .measured) }
            }
        }
        return .timed(subject(withTarget: true), subject(withTarget: false))
    }

    private static let muted = Benchmark(
        "post to a muted observer", size: "", reference: "not muted", goal: 2
    ) {
        func subject(isMuted: Bool) -> Subject {
            let (center, sink) = (ObserverCenter(), Sink())
            let token = center.observe(.measured) { _ in addOne(sink) }
            if isMuted { token.mute() }
            return Subject(count: 100_000, keeping: token) { count in
                for _ in 0..<count { center.post(name: .measured) }
            }
        }
        return .timed(subject(isMuted: true), subject(isMuted: false))
    }

    private static let manyQueues = Benchmark(
        "post to n observers with n schedulers, each", size: "n = 10000", reference: "n = 100",
        goal: 1.5, isLarge: true
    ) {
        func subject(_ size: Int) -> Subject {
            let center = ObserverCenter()
            let schedulers = (0..<size).map { _ in Jobs() }
            let tokens = schedulers.map { center.observe(.measured, on: .custom($0)) { _ in } }
            return Subject(count: 10_000, keeping: tokens) { count in
                for _ in 0..<max(1, count / size) {
                    center.post(name: .measured)
                    for scheduler in schedulers { scheduler.run() }
                }
            }
        }
        return .timed(subject(10_000), subject(100))
    }

    private actor Owner {}

    private static let manyActors = Benchmark(
        "post to n actors, each", size: "n = 10000", reference: "n = 100", goal: 1.5,
        clock: .elapsed, isLarge: true, hasStableInstructions: false
    ) {
        func subject(_ size: Int) -> Subject {
            let (center, handled) = (ObserverCenter(), DispatchSemaphore(value: 0))
            let owners = (0..<size).map { _ in Owner() }
            for owner in owners {
                center.observe(.measured, owner: owner) { (_: isolated Owner, _) in
                    handled.signal()
                }
            }
            return Subject(count: 10_000, keeping: owners) { count in
                for _ in 0..<max(1, count / size) {
                    center.post(name: .measured)
                    for _ in 0..<size { handled.wait() }
                }
            }
        }
        return .timed(subject(10_000), subject(100))
    }

    /// Blocks that begin while the handler runs, as on a concurrent queue.
    private static let skipped = Benchmark(
        "n deliveries that begin while a handler runs, each", size: "n = 100000",
        reference: "n = 1000", goal: 1.5, isLarge: true
    ) {
        func subject(_ size: Int) -> Subject {
            let (center, jobs) = (ObserverCenter(), Jobs())
            let token = center.observe(.measured, on: .custom(jobs)) { _ in
                // The first call runs all other jobs inside the handler.
                jobs.run()
            }
            return Subject(count: size, keeping: token) { count in
                for _ in 0..<max(1, count / size) {
                    for _ in 0..<size { center.post(name: .measured) }
                    jobs.run()
                }
            }
        }
        return .timed(subject(100_000), subject(1000))
    }

    private static let lastInFirstOut = Benchmark(
        "n deliveries that a scheduler runs last in, first out, each", size: "n = 40000",
        reference: "n = 100", goal: 2, isLarge: true
    ) {
        func subject(_ size: Int) -> Subject {
            let (center, jobs, sink) = (ObserverCenter(), Jobs(), Sink())
            let token = center.observe(.measured, on: .custom(jobs)) { _ in addOne(sink) }
            return Subject(count: 40_000, keeping: token) { count in
                for _ in 0..<max(1, count / size) {
                    for _ in 0..<size { center.post(name: .measured) }
                    jobs.runBackwards()
                }
            }
        }
        return .timed(subject(40_000), subject(100))
    }

    /// A stream while an early block has not begun, as when a posting thread is preempted.
    private static let heldBack = Benchmark(
        "stream behind an early block held back, each", size: "100000",
        reference: "none is held back", goal: 1.5, isLarge: true
    ) {
        func subject(holding: Bool) -> Subject {
            Subject(count: 100_000) { count in
                let (center, jobs, sink) = (ObserverCenter(), Jobs(), Sink())
                let token = center.observe(.measured, on: .custom(jobs)) { _ in addOne(sink) }
                center.post(name: .measured)
                let first = jobs.take()
                if !holding { first?() }
                for _ in 0..<count { center.post(name: .measured) }
                jobs.run()
                if holding { first?() }
                withExtendedLifetime(token) {}
            }
        }
        return .timed(subject(holding: true), subject(holding: false))
    }
}

/// A scheduler whose jobs the row runs, in any order. SAFETY: a row uses the scheduler on one
/// thread.
private final class Jobs: DeliveryScheduler, @unchecked Sendable {
    private var jobs: ArraySlice<@Sendable () -> Void> = []

    func schedule(_ job: @escaping @Sendable () -> Void) { jobs.append(job) }

    func take() -> (@Sendable () -> Void)? { jobs.popFirst() }

    func run() {
        while let job = jobs.popFirst() { job() }
    }

    func runBackwards() {
        while let job = jobs.popLast() { job() }
    }
}
