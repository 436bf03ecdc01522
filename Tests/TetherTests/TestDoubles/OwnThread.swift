import Dispatch
import Foundation
import Testing
import Tether

/// Runs each test on a thread of its own, which the test may block.
///
/// All tasks share a few threads, on Linux also with the blocks of Dispatch's global queues. If
/// tests block all of these threads, each waiting for another task, no test makes progress.
struct OwnThreadTrait: SuiteTrait, TestTrait, TestScoping {
    /// When a test runs, if others wait for their turns, too.
    enum Place: CaseIterable {
        case first, between, last
    }

    fileprivate let place: Place

    var isRecursive: Bool { true }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> OwnThreadTrait? {
        if test.isSuite { return place == .first ? self : nil }
        return testCase == nil ? nil : self
    }

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        if test.isSuite {
            // The tasks of the suite inherit the priority, and run before those of other suites.
            return try await withoutActuallyEscaping(function) { function in
                try await Task(priority: TaskPriority(rawValue: 33)) { try await function() }.value
            }
        }
        await Turns.shared.take(place)
        defer { Turns.shared.give() }
        let thread = OwnThread()
        defer { thread.end() }
        try await withTaskExecutorPreference(thread) { try await function() }
    }
}

extension Trait where Self == OwnThreadTrait {
    /// For blocking calls: `Gate`, `Latch`, `onThreads`, `allAtOnce`, `race`.
    static var ownThread: OwnThreadTrait { ownThread(.between) }

    /// The same for a serial suite, of which one test waits at a time.
    static func ownThread(_ place: OwnThreadTrait.Place) -> OwnThreadTrait {
        OwnThreadTrait(place: place)
    }
}

/// A failure of a test that blocks a thread of the concurrency library.
func expectBlockingIsAllowed(sourceLocation: SourceLocation) {
    // Not set on a test's own threads, nor in a process of an exit test, because that process has
    // no other test.
    if Test.current == nil { return }
    if OwnThread.isCurrent || MainQueue.isCurrent { return }
    Issue.record(
        "This blocks a thread of all tasks; the test lacks `.ownThread`.",
        sourceLocation: sourceLocation)
}

/// The main queue, which may be off the main thread. Only tasks of the main actor need it.
private enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}

/// Runs jobs on a thread, one after the other, until its end.
private final class OwnThread: TaskExecutor {
    private static let mark = "OwnThread"

    static var isCurrent: Bool { Thread.current.threadDictionary[mark] != nil }

    private struct State {
        var jobs: [UnownedJob] = []
        var hasEnded = false
    }

    private let state = Locked(State())
    private let hasChanged = DispatchSemaphore(value: 0)

    init() {
        Thread.detachNewThread { [self] in
            Thread.current.threadDictionary[OwnThread.mark] = true
            while run() { hasChanged.wait() }
        }
    }

    /// Whether there may be more.
    private func run() -> Bool {
        while true {
            let (job, hasEnded) = state.withLock {
                ($0.jobs.isEmpty ? nil : $0.jobs.removeFirst(), $0.hasEnded)
            }
            guard let job else { return !hasEnded }
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        hasChanged.signal()
    }

    func end() {
        state.withLock { $0.hasEnded = true }
        hasChanged.signal()
    }
}

/// Runs at most one test for each processor at a time, so that races meet as often as possible.
private final class Turns: Sendable {
    static let shared = Turns(ProcessInfo.processInfo.activeProcessorCount)

    private struct State {
        var free: Int
        var waiting: [OwnThreadTrait.Place: [CheckedContinuation<Void, Never>]] = [:]

        mutating func removeNext() -> CheckedContinuation<Void, Never>? {
            for place in OwnThreadTrait.Place.allCases {
                guard waiting[place]?.isEmpty == false else { continue }
                return waiting[place]?.removeFirst()
            }
            return nil
        }
    }

    private let state: Locked<State>

    init(_ count: Int) {
        state = Locked(State(free: count))
    }

    func take(_ place: OwnThreadTrait.Place) async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free == 0 {
                    state.waiting[place, default: []].append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func give() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            let next = state.removeNext()
            if next == nil { state.free += 1 }
            return next
        }
        next?.resume()
    }
}
