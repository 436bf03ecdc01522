import Foundation
import Testing

@testable import Tether

/// Random owners, each with observers, tasks, loops and closures, beside a model: a list for each
/// owner, in order of attachment.
///
/// After each operation the log, the owner's list and the audit must be the model's.
/// `TETHER_MODEL_OPERATIONS` says how many operations to perform, `TETHER_MODEL_SEED` with which
/// seed to begin.
@Suite struct OwnedWorkModelTests {
    // In a process of its own: an audit of the process that another test takes retains observers
    // for a moment.
    @Test func `O12 O13 O14 owners and lists of their work agree`() async {
        await #expect(processExitsWith: .success) { await OwnedWorkRun.perform() }
    }
}

/// One piece of work of an owner.
private struct ListedWork {
    enum Kind: CaseIterable {
        case observer, task, throwingTask, loop, closure

        var isTask: Bool { self == .task || self == .throwingTask }
        var hasKey: Bool { isTask || self == .loop }
    }

    let id: Int
    let kind: Kind
    /// The key of a task or a loop.
    var key: Int?
    /// Where a task or a loop waits; `nil` for an observer and a closure.
    let pause: Pause?
    let cancel: @Sendable () -> Void
    /// Waits until the task or the loop has returned.
    let hasReturned: @Sendable () async -> Void

    /// The entry of an audit.
    var target: String {
        switch kind {
        case .observer: "posting thread"
        case .task, .throwingTask: "task"
        case .loop: "loop over Pauses"
        case .closure: "owner's end"
        }
    }

    /// The log of an end by `cancel()`.
    var logOfCancel: [String] {
        switch kind {
        case .observer, .closure: ["capture \(id) deinit"]
        case .task, .throwingTask, .loop: ["cancelled \(id)"]
        }
    }

    /// The log of an end by the owner's end.
    var logOfOwnersEnd: [String] { kind == .closure ? ["called \(id)"] + logOfCancel : logOfCancel }
}

private struct ListedOwner {
    let number: Int
    let object: Holder<LoggedObject>
    let probe: ObjectProbe
    /// In order of attachment.
    var work: [ListedWork] = []
}

/// Where the task of one piece of work waits, as long as a test wants.
private final class Pause: Sendable {
    private let id: Int
    private let log: Log<String>
    private let resumptions: AsyncStream<Bool>
    private let resumption: AsyncStream<Bool>.Continuation
    /// Opened at each wait that has begun.
    let begun = AsyncGate()

    init(_ id: Int, _ log: Log<String>) {
        self.id = id
        self.log = log
        (resumptions, resumption) = AsyncStream.makeStream()
    }

    func resume(returning goesOn: Bool) { resumption.yield(goesOn) }

    /// Returns the argument of `resume(returning:)`. Returns false when the task is cancelled, and
    /// logs that.
    func wait() async -> Bool {
        await withTaskCancellationHandler {
            begun.open()
            for await goesOn in resumptions { return goesOn }
            return false
        } onCancel: {
            log.add("cancelled \(id)")
        }
    }
}

/// A sequence with an element for each pause that is resumed with `true`.
private struct Pauses: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let pause: Pause

    func makeAsyncIterator() -> Pauses { self }
    func next() async -> Int? { await pause.wait() ? 1 : nil }
}

private struct OwnedWorkRun {
    private static let ownersAtATime = 3

    private struct Failure: Error {}

    private var random: SplitMix64
    private let center = ObserverCenter()
    private let log = Log<String>()
    private var owners: [ListedOwner] = []
    private var lastNumber = 0
    /// The operations so far, for the report of a difference.
    private var operations: [String] = []
    /// The numbers of the ended owners that left a record behind.
    private var ownersWithRecord: [Int] = []
    /// The log that the model gives.
    private var expected: [String] = []

    static func perform() async {
        let environment = ProcessInfo.processInfo.environment
        var left = environment["TETHER_MODEL_OPERATIONS"].flatMap(Int.init) ?? 3_000
        var seed = environment["TETHER_MODEL_SEED"].flatMap(UInt64.init) ?? 1
        while left > 0 {
            var run = OwnedWorkRun(random: SplitMix64(seed: seed))
            do {
                try await run.perform(operations: 60)
            } catch {
                Issue.record("seed \(seed): \(run.difference)")
                return
            }
            left -= 60
            seed += 1
        }
    }

    private init(random: SplitMix64) { self.random = random }

    private mutating func perform(operations count: Int) async throws {
        for _ in 0..<count {
            await performOne()
            try check()
        }
        while !owners.isEmpty {
            await endOwner(at: 0)
            try check()
        }
    }

    private mutating func performOne() async {
        guard owners.count == OwnedWorkRun.ownersAtATime else { return makeOwner() }
        let owner = Int.random(in: owners.indices, using: &random)
        switch Int.random(in: 0..<17, using: &random) {
        case 0..<8: await attach(to: owner)
        case 8: post()
        case 9, 10: await resume(of: owner, returning: true)
        case 11, 12: await resume(of: owner, returning: false)
        case 13: await cancelOne(of: owner)
        case 14: await cancelAll(of: owner)
        case 15: await finishAll(of: owner)
        default: await endOwner(at: owner)
        }
    }

    // MARK: Operations

    private mutating func makeOwner() {
        lastNumber += 1
        operations.append("owner \(lastNumber)")
        let object = Holder(LoggedObject("owner \(lastNumber)", log))
        owners.append(
            ListedOwner(number: lastNumber, object: object, probe: ObjectProbe(object.object!)))
    }

    private mutating func attach(to index: Int) async {
        guard let owner = owners[index].object.object else { return }
        lastNumber += 1
        let kind = ListedWork.Kind.allCases.randomElement(using: &random)!
        let key = kind.hasKey ? [nil, nil, 1, 2].randomElement(using: &random)! : nil
        operations.append(
            "\(kind) \(lastNumber) of owner \(owners[index].number), key \(describe(key))")
        let replaced = owners[index].work.filter { key != nil && $0.key == key }
        owners[index].work.removeAll { key != nil && $0.key == key }
        expected += replaced.flatMap(\.logOfCancel)
        var work = start(kind, id: lastNumber, key: key, owner: owner)
        work.key = key
        await work.pause?.begun.pass()
        for ended in replaced { await ended.hasReturned() }
        owners[index].work.append(work)
    }

    private func describe(_ key: Int?) -> String { key.map { "\($0)" } ?? "none" }

    private func start(_ kind: ListedWork.Kind, id: Int, key: Int?, owner: LoggedObject)
        -> ListedWork
    {
        let log = log
        let pause = Pause(id, log)
        switch kind {
        case .observer:
            let capture = LoggedObject("capture \(id)", log)
            let token = center.observe(.sample, owner: owner) { _, _ in
                capture.touch()
                log.add("post to \(id)")
            }
            return ListedWork(id, kind, token)
        case .closure:
            let capture = LoggedObject("capture \(id)", log)
            let token = OwnerLifetime.whenEnded(owner) {
                capture.touch()
                log.add("called \(id)")
            }
            return ListedWork(id, kind, token.observer)
        case .task:
            let task = Task(owner: owner, key: key) { _ = await pause.wait() }
            return ListedWork(id, kind, pause, task)
        case .throwingTask:
            let task = Task(owner: owner, key: key) { if await !pause.wait() { throw Failure() } }
            return ListedWork(id, kind, pause, task)
        case .loop:
            let task = Pauses(pause: pause).observe(owner: owner, key: key) { _, _ in
                log.add("element of \(id)")
            }
            return ListedWork(id, kind, pause, task)
        }
    }

    private mutating func post() {
        operations.append("post")
        center.post(name: .sample, object: nil)
        let observers = owners.flatMap(\.work).filter { $0.kind == .observer }.map(\.id)
        expected += observers.sorted().map { "post to \($0)" }
    }

    /// Lets a task return, or a loop have an element or end.
    private mutating func resume(of index: Int, returning goesOn: Bool) async {
        let waiting = owners[index].work.filter { $0.pause != nil }
        guard let work = waiting.randomElement(using: &random), let pause = work.pause else {
            return
        }
        operations.append("resume \(work.id) \(goesOn)")
        pause.resume(returning: goesOn)
        if work.kind == .loop, goesOn {
            expected.append("element of \(work.id)")
            await pause.begun.pass()
        } else {
            owners[index].work.removeAll { $0.id == work.id }
            await work.hasReturned()
        }
    }

    private mutating func cancelOne(of index: Int) async {
        guard let work = owners[index].work.randomElement(using: &random) else { return }
        operations.append("cancel \(work.id)")
        owners[index].work.removeAll { $0.id == work.id }
        expected += work.logOfCancel
        work.cancel()
        await work.hasReturned()
    }

    private mutating func cancelAll(of index: Int) async {
        operations.append("cancel all of owner \(owners[index].number)")
        let work = owners[index].work.filter { $0.kind != .closure }
        owners[index].work.removeAll { $0.kind != .closure }
        expected += work.flatMap(\.logOfCancel)
        if let owner = owners[index].object.object { OwnerObservers(of: owner).cancel() }
        for ended in work { await ended.hasReturned() }
    }

    /// Observers and loops end first, in order of attachment, and then the tasks.
    private mutating func finishAll(of index: Int) async {
        operations.append("finish all of owner \(owners[index].number)")
        let work = owners[index].work.filter { $0.kind != .closure }
        owners[index].work.removeAll { $0.kind != .closure }
        let (tasks, others) = (work.filter(\.kind.isTask), work.filter { !$0.kind.isTask })
        expected += (others + tasks).flatMap(\.logOfCancel)
        if let owner = owners[index].object.object { await OwnerObservers(of: owner).finish() }
        for ended in work { await ended.hasReturned() }
    }

    private mutating func endOwner(at index: Int) async {
        let owner = owners.remove(at: index)
        operations.append("end of owner \(owner.number)")
        let ends = owner.work.flatMap(\.logOfOwnersEnd)
        let lastLine = "owner \(owner.number) deinit"
        expected += endsFollowDeinit ? [lastLine] + ends : ends + [lastLine]
        owner.object.release()
        for ended in owner.work { await ended.hasReturned() }
        if owner.probe.hasRecord { ownersWithRecord.append(owner.number) }
    }

    // MARK: The comparison

    private func check() throws {
        if !isEqual { throw Failure() }
    }

    private var isEqual: Bool {
        let observers = owners.flatMap(\.work).count { $0.kind == .observer }
        return log.entries == expected && ownersWithRecord.isEmpty
            && center.audit().count == observers
            && owners.allSatisfy { owner in
                let listed = owner.object.object.map { OwnerObservers(of: $0).audit() }
                return listed?.map(\.target) == owner.work.map(\.target)
                    && owner.probe.hasRecord == !owner.work.isEmpty
            }
    }

    /// The operations, and the first entries that differ.
    private var difference: String {
        let entries = log.entries
        let common = zip(entries, expected).prefix { $0 == $1 }.count
        let lists = owners.map { owner in
            let listed = owner.object.object.map { OwnerObservers(of: $0).audit().map(\.target) }
            return "owner \(owner.number): \(listed ?? []), expected \(owner.work.map(\.target))"
        }
        return """
            \(operations.joined(separator: "; "))
            logged \(entries.dropFirst(common)), expected \(expected.dropFirst(common))
            ended owners with a record: \(ownersWithRecord)
            \(lists.joined(separator: "\n"))
            """
    }
}

extension ListedWork {
    /// An observer or a closure, which ends at once.
    fileprivate init(_ id: Int, _ kind: Kind, _ token: NotificationObserver) {
        self.init(
            id: id, kind: kind, pause: nil, cancel: { token.cancel() }, hasReturned: {})
    }

    /// A task or a loop.
    fileprivate init<Failure>(_ id: Int, _ kind: Kind, _ pause: Pause, _ task: Task<Void, Failure>)
    {
        self.init(
            id: id, kind: kind, pause: pause, cancel: { task.cancel() },
            hasReturned: { _ = await task.result })
    }
}
