import Foundation
import Testing

@testable import Tether

/// Waits until a task has returned. Returns false after the limit of all waits.
private func returns<Failure: Error>(_ task: Task<Void, Failure>) -> Bool {
    let gate = DispatchSemaphore(value: 0)
    Task.detached {
        _ = await task.result
        gate.signal()
    }
    return gate.wait(timeout: .now() + longestWait) == .success
}

extension LateRaces {
    /// The end of an owner races with the life of its tasks and loops.
    @Suite struct OwnedTaskRaceTests {
        private final class Owner: Sendable {}

        /// Returns when the current task is cancelled.
        private static func cancellation() async {
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            await withTaskCancellationHandler {
                for await _ in stream {}
            } onCancel: {
                continuation.finish()
            }
        }

        @Test func `O12 a task whose owner ends while it begins is cancelled`() throws {
            struct Fixture: Sendable {
                let owner = Box<Owner?>(Owner())
                let task = Box<Task<Void, Never>?>()
            }
            try race(
                rounds: 1_000,
                setUp: { _ in Fixture() },
                { fixture in
                    // Either thread may have the last reference, and the task may not run yet.
                    guard let owner = fixture.owner.value else { return }
                    fixture.task.set(
                        Task(owner: owner) { await OwnedTaskRaceTests.cancellation() })
                },
                { fixture in fixture.owner.drop() },
                check: { fixture in
                    let task = fixture.task.value
                    try require(task.map(returns) ?? true, "The task was not cancelled.")
                })
        }

        @Test func `O12 a task that returns while its owner ends leaves nothing`() throws {
            struct Fixture: Sendable {
                let owner = Holder(Owner())
                let trace: ObjectProbe
                let gate = AsyncGate()
                let task: Task<Void, Never>

                init() {
                    trace = ObjectProbe(owner.object!)
                    task = Task(owner: owner.object!) { [gate] in await gate.pass() }
                }
            }
            try race(
                rounds: 1_000,
                setUp: { _ in Fixture() },
                { fixture in fixture.gate.open() },
                { fixture in fixture.owner.release() },
                check: { fixture in
                    try require(returns(fixture.task), "The task did not return.")
                    try require(!fixture.trace.hasRecord, "The owner's list is left.")
                })
        }

        @Test func `O12 O7 a cancellation of all and a return at the same time end a task`() throws
        {
            struct Fixture: Sendable {
                let owner = Owner()
                let gate = AsyncGate()
                let task: Task<Void, Never>

                init() {
                    task = Task(owner: owner) { [gate] in await gate.pass() }
                }
            }
            try race(
                rounds: 1_000,
                setUp: { _ in Fixture() },
                { fixture in fixture.gate.open() },
                { fixture in OwnerObservers(of: fixture.owner).cancel() },
                check: { fixture in
                    try require(returns(fixture.task), "The task did not return.")
                    try require(
                        OwnerObservers(of: fixture.owner).isEmpty, "The owner's list is left.")
                })
        }

        @Test func `O13 O4 no call of a loop begins after its owner's end`() throws {
            struct Fixture: Sendable {
                let owner: Holder<LoggedObject>
                let log = Log<String>()
                let input: AsyncStream<Int>.Continuation
                let loop: Task<Void, Never>

                init() {
                    owner = Holder(LoggedObject("owner", log))
                    let (numbers, input) = AsyncStream.makeStream(of: Int.self)
                    self.input = input
                    loop = numbers.observe(owner: owner.object!) { [log] _, number in
                        log.add("call")
                    }
                }
            }
            try race(
                rounds: 1_000,
                setUp: { _ in Fixture() },
                { fixture in for number in 0..<4 { fixture.input.yield(number) } },
                { fixture in fixture.owner.release() },
                check: { fixture in
                    try require(returns(fixture.loop), "The loop did not end.")
                    let entries = fixture.log.entries
                    try require(entries.last == "owner deinit", "Logged \(entries).")
                })
        }

        /// An owner with one piece of work of each kind, whose ends are counted.
        private struct Mixture: Sendable {
            let owner = Holder(Owner())
            let probe: ObjectProbe
            let center = ObserverCenter()
            let gate = AsyncGate()
            let input: AsyncStream<Int>.Continuation
            let calls = Counter()
            let releases = Counter()
            let tokens: [NotificationObserver]
            let tasks: [Task<Void, Never>]

            init() {
                let object = owner.object!
                probe = ObjectProbe(object)
                let (numbers, input) = AsyncStream.makeStream(of: Int.self)
                self.input = input
                let (calls, releases, gate) = (calls, releases, gate)
                let captured = [0, 1].map { _ in Ending { releases.add() } }
                tokens = [
                    center.observe(.sample, owner: object) { [captured = captured[0]] _, _ in
                        captured.touch()
                    },
                    OwnerLifetime.whenEnded(object) { [captured = captured[1]] in
                        captured.touch()
                        calls.add()
                    }.observer,
                ]
                tasks = [
                    Task(owner: object) { await gate.pass() },
                    numbers.observe(owner: object) { _, _ in },
                ]
            }
        }

        @Test
        func `O12 O13 O14 ends, cancellations and returns at the same time end all work once`()
            throws
        {
            try race(
                rounds: 1_000,
                setUp: { _ in Mixture() },
                { mixture in mixture.owner.release() },
                { mixture in
                    for token in mixture.tokens { token.cancel() }
                    for task in mixture.tasks { task.cancel() }
                },
                { mixture in
                    mixture.gate.open()
                    mixture.input.finish()
                },
                check: { mixture in
                    for task in mixture.tasks {
                        try require(returns(task), "A task did not return.")
                    }
                    try require(mixture.calls.count <= 1, "Called \(mixture.calls.count) times.")
                    try require(
                        mixture.releases.count == 2, "Released \(mixture.releases.count) captures.")
                    try require(!mixture.probe.hasRecord, "The owner's list is left.")
                    try require(mixture.center.audit().isEmpty, "An observer is left.")
                })
        }

        @Test func `O14 an end and a cancel() at the same time call a closure at most once`() throws
        {
            struct Fixture: Sendable {
                let owner = Holder(Owner())
                let calls = Counter()
                let token: OwnerLifetime.EndToken

                init() {
                    token = OwnerLifetime.whenEnded(owner.object!) { [calls] in
                        calls.add()
                    }
                }
            }
            try race(
                setUp: { _ in Fixture() },
                { fixture in fixture.token.cancel() },
                { fixture in fixture.owner.release() },
                check: { fixture in
                    try require(fixture.calls.count <= 1, "Called \(fixture.calls.count) times.")
                    try require(!fixture.token.isActive, "The token is active.")
                })
        }
    }
}
