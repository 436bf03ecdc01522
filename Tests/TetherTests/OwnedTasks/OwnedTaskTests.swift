import Foundation
import Testing

@testable import Tether

/// Tasks that end with their owners.
@Suite struct OwnedTaskTests {
    private final class Owner: Sendable {}
    private struct Failure: Error, Equatable {}
    private enum Local { @TaskLocal static var value = "none" }

    private let log = Log<String>()

    /// Waits until the current task is cancelled.
    private static func cancellation() async {
        let gate = AsyncGate()
        await withTaskCancellationHandler {
            await gate.pass()
        } onCancel: {
            gate.open()
        }
    }

    // MARK: The owner's end

    @Test func `O12 O2 a task is cancelled before its owner's deinit, and retains no owner`()
        async
    {
        let (log, begun) = (log, AsyncGate())
        let owner = Holder(LoggedObject("owner", log))
        let task = Task(owner: owner.object!) {
            begun.open()
            await withTaskCancellationHandler {
                await OwnedTaskTests.cancellation()
            } onCancel: {
                log.add("cancelled")
            }
        }
        await begun.pass()
        owner.release()
        await task.value
        #expect(log.entries == ["cancelled", "owner deinit"])
        #expect(task.isCancelled)
    }

    @Test func `O12 O14 tasks and closures of an owner end in the order of their beginnings`()
        async
    {
        let (log, begun) = (log, AsyncGate())
        let owner = Holder(Owner())
        OwnerLifetime.whenEnded(owner.object!) { log.add("first") }
        let task = Task(owner: owner.object!) {
            await withTaskCancellationHandler {
                begun.open()
                await OwnedTaskTests.cancellation()
            } onCancel: {
                log.add("cancelled")
            }
        }
        OwnerLifetime.whenEnded(owner.object!) { log.add("last") }
        await begun.pass()
        owner.release()
        await task.value
        #expect(log.entries == ["first", "cancelled", "last"])
    }

    @Test func `O12 O8 a task of an owner that is being deinitialised starts cancelled`() async {
        let log = log
        let result = Box<Task<Bool, Never>?>()
        let owner = Holder(
            LoggedObject("owner", log) { owner in
                result.set(Task(owner: owner) { Task.isCancelled })
                log.add("\(OwnerObservers(of: owner).count)")
            })
        owner.release()
        #expect(await result.value?.value == true)
        #expect(log.entries == ["owner deinit", "0"])
    }

    @Test func `O12 a task that captures its owner keeps it until the return`() async {
        let (log, gate) = (log, AsyncGate())
        let owner = Holder(LoggedObject("owner", log))
        let task = Task(owner: owner.object!) { [object = owner.object!] in
            await gate.pass()
            log.add("captured by \(object.name)")
        }
        owner.release()
        #expect(log.entries == [] && !task.isCancelled)
        gate.open()
        await task.value
        #expect(await log.hasLogged(2))
        #expect(log.entries == ["captured by owner", "owner deinit"])
    }

    // MARK: The result

    @Test func `O12 a task returns its value, or throws its error, and is not cancelled`()
        async throws
    {
        let owner = Owner()
        let value = Task(owner: owner) { 42 }
        #expect(await value.value == 42)
        let failure = Task(owner: owner) { () async throws -> Int in throw Failure() }
        await #expect(throws: Failure()) { try await failure.value }
        let success = Task(owner: owner) { () async throws -> Int in 43 }
        #expect(try await success.value == 43)
        #expect(!value.isCancelled && !failure.isCancelled && !success.isCancelled)
        withExtendedLifetime(owner) {}
    }

    @Test func `O12 M9 tasks that have returned leave nothing in the owner's list`() async {
        let owner = Owner()
        for _ in 0..<50 {
            let task = Task(owner: owner) {}
            await task.value
            #expect(!task.isCancelled)
            #expect(OwnerObservers(of: owner).isEmpty && !ObjectProbe(owner).hasRecord)
        }
        withExtendedLifetime(owner) {}
    }

    @Test func `O12 R8 the captures of a task are released with its return`() async {
        let log = log
        let owner = Owner()
        let task = Task(owner: owner) { [captured = LoggedObject("captured", log)] in
            captured.touch()
        }
        await task.value
        #expect(
            await inTime { while log.entries.isEmpty, !Task.isCancelled { await Task.yield() } })
        withExtendedLifetime((owner, task)) {}
    }

    // MARK: What a task inherits

    @MainActor @Test
    func `O12 tasks begin on their caller's actor, in the order of their starts`()
        async
    {
        let (log, owner) = (log, Owner())
        var tasks: [Task<Void, Never>] = []
        for number in 0..<20 {
            tasks.append(
                Task(owner: owner) {
                    MainActor.assertIsolated()
                    log.add("\(number)")
                })
            tasks.append(
                Task {
                    MainActor.assertIsolated()
                    log.add("\(number)'")
                })
        }
        for task in tasks { await task.value }
        #expect(log.entries == (0..<20).flatMap { ["\($0)", "\($0)'"] })
        withExtendedLifetime(owner) {}
    }

    @Test(.ownThread) func `O12 a task of an actor needs one job of the actor's executor to begin`()
    {
        let (log, executor, owner) = (log, ManualExecutor(), Owner())
        let recorder = Recorder(on: executor, log: log)
        let done = Latch()
        Task(owner: owner) {
            await recorder.start(for: owner) { done.open() }
        }
        // The call of `start`, then the task's first line.
        executor.runNext()
        executor.runNext()
        done.pass()
        #expect(log.entries == ["begun"])
        withExtendedLifetime(owner) {}
    }

    @Test func `O12 a task has its caller's task-local values and priority, or its own`() async {
        let owner = Owner()
        let inherited = await Local.$value.withValue("local") {
            await Task(owner: owner) { Local.value }.value
        }
        #expect(inherited == "local")
        #expect(
            await Task(owner: owner, priority: .background) { Task.basePriority }.value
                == .background)
        let outer = Task(priority: .utility) {
            await Task(owner: owner) { Task.basePriority }.value
        }
        #expect(await outer.value == .utility)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            let name = await Task(owner: owner, name: "saver") { Task.name }.value
            #expect(name == "saver")
        }
        withExtendedLifetime(owner) {}
    }

    @Test func `O12 M9 a chain of tasks keeps nothing of earlier tasks`() async {
        let (generations, owner, calls) = (Generations(), Owner(), Box(0))
        generations.start(1, owner: owner) {
            // The last task: all others have returned.
            for task in generations.tasks.entries.dropLast() { await task.value }
            // A task that it starts leaves the ended calls out.
            await Task(owner: owner) {
                calls.set(generations.calls.entries.count { $0.call != nil })
            }.value
        }
        while generations.tasks.entries.count < Generations.last { await Task.yield() }
        await generations.tasks.entries.last?.value
        // The call of the last task itself.
        #expect(calls.value == 1)
        withExtendedLifetime(owner) {}
    }

    @Test(.ownThread) func `O12 R5 nested calls are released singly`() {
        let isOver = Latch()
        let thread = Thread {
            var calls: [AsyncRun] = []
            for _ in 0..<2000 {
                let call = AsyncRun.$current.withValue(calls.last) { AsyncRun(of: Owner()) }
                calls.append(call)
            }
            for call in calls { call.end() }
            var last = calls.popLast()
            calls = []
            // Releases all of them.
            last = nil
            withExtendedLifetime(last) {}
            isOver.open()
        }
        // Too small for as many nested releases.
        thread.stackSize = 128 * 1024
        thread.start()
        isOver.pass()
    }

    private struct WeakCall: Sendable { weak var call: AsyncRun? }

    /// Tasks of an owner, each started by the one before.
    private final class Generations: Sendable {
        static let last = 100
        let tasks = Log<Task<Void, Never>>()
        let calls = Log<WeakCall>()

        func start(
            _ number: Int, owner: Owner, _ atLast: @escaping @Sendable () async -> Void
        ) {
            let task = Task(owner: owner) { [weak owner] in
                if let call = AsyncRun.current { self.calls.add(WeakCall(call: call)) }
                // So the tasks are in the order of their starts.
                while self.tasks.entries.count < number { await Task.yield() }
                if number == Generations.last {
                    await atLast()
                } else if let owner {
                    self.start(number + 1, owner: owner, atLast)
                }
            }
            tasks.add(task)
        }
    }

    // MARK: The owner's list

    @Test func `O12 O7 the list of an owner counts, audits and cancels its tasks`() async throws {
        let (begun, owner) = (AsyncGate(), Owner())
        let line = UInt(#line + 1)
        let task = Task(owner: owner) {
            begun.open()
            await OwnedTaskTests.cancellation()
        }
        let named = Task(owner: owner, name: "poll") { await OwnedTaskTests.cancellation() }
        await begun.pass()
        let observers = OwnerObservers(of: owner)
        #expect(observers.count == 2)
        let rows = observers.audit().rows
        try #require(rows.count == 2)
        #expect(rows.map(\.target) == ["task", "task poll"])
        #expect(rows[0].file == "TetherTests/OwnedTaskTests.swift" && rows[0].line == Int(line))
        #expect(rows[0].owner?.hasPrefix("Owner") == true && rows[0].center == "none")
        #expect(rows[0].description.hasPrefix("task for Owner"))
        #expect(Audit.process().contains { $0 == rows[0] })
        observers.cancel()
        await task.value
        await named.value
        #expect(task.isCancelled && named.isCancelled && observers.isEmpty)
        withExtendedLifetime(owner) {}
    }

    @Test func `O12 R2 a token of a task waits until the operation has returned`() async throws {
        let (log, begun, gate, owner) = (log, AsyncGate(), AsyncGate(), Owner())
        Task(owner: owner) {
            begun.open()
            await gate.pass()
            log.add("returned \(Task.isCancelled)")
        }
        await begun.pass()
        let token = try #require(OwnerObservers(of: owner).first { _ in true })
        let address = try #require(token.registration).address
        let waiting = Task {
            await token.cancelAndWait()
            log.add("waited")
        }
        #expect(await isWaitedFor(address))
        gate.open()
        await waiting.value
        #expect(log.entries == ["returned true", "waited"])
        withExtendedLifetime(owner) {}
    }

    @Test func `O12 R11 a task that finishes its own owner's observers lets deliveries be made`()
        async throws
    {
        let (log, center, jobs, owner) = (log, ObserverCenter(), ManualScheduler(), Owner())
        let token = center.observe(.sample, owner: owner, on: .custom(jobs)) { _, note in
            log.add("handled \(note.number)")
        }
        let address = try #require(token.registration).address
        center.post(.sample, numbers: 1...3)
        let task = Task(owner: owner) { [weak owner] in
            guard let owner else { return }
            let result = await OwnerObservers(of: owner).finish()
            log.add("\(result) \(Task.isCancelled)")
        }
        #expect(await isWaitedFor(address))
        #expect(log.entries == [])
        jobs.runAll()
        await task.value
        #expect(log.entries == ["handled 1", "handled 2", "handled 3", "finished true"])
        #expect(OwnerObservers(of: owner).isEmpty)
    }

    @Test func `O12 R11 a task in an async handler that finishes its owner ends none early`()
        async
    {
        let (log, center, owner, ended, gate) = (
            log, ObserverCenter(), Owner(), AsyncGate(), AsyncGate()
        )
        let token = center.observe(.sample, owner: owner) { owner, note async in
            guard note.number == 1 else { return log.add("handled \(note.number)") }
            Task(owner: owner) { [weak owner] in
                guard let owner else { return }
                log.add("\(await OwnerObservers(of: owner).finish()) \(Task.isCancelled)")
                ended.open()
            }
            await gate.pass()
            log.add("handled 1 \(Task.isCancelled)")
        }
        center.post(.sample, numbers: 1...3)
        await ended.pass()
        gate.open()
        await token.finish()
        #expect(
            log.entries == ["wouldDeadlock false", "handled 1 false", "handled 2", "handled 3"])
        #expect(OwnerObservers(of: owner).isEmpty)
    }

    @Test func `O12 R11 a task in a task that finishes its owner's observers ends both`() async {
        let (log, owner, ended) = (log, Owner(), AsyncGate())
        Task(owner: owner) { [weak owner] in
            guard let owner else { return }
            let inner = Task(owner: owner) { [weak owner] in
                guard let owner else { return }
                log.add("\(await OwnerObservers(of: owner).finish()) \(Task.isCancelled)")
            }
            await inner.value
            log.add("\(Task.isCancelled)")
            ended.open()
        }
        await ended.pass()
        #expect(log.entries == ["finished true", "true"])
        #expect(OwnerObservers(of: owner).isEmpty)
    }

    @Test func `O12 O14 R11 finish() cancels tasks, waits for their return, and leaves closures`()
        async throws
    {
        let (log, begun, gate) = (log, AsyncGate(), AsyncGate())
        let owner = Holder(Owner())
        Task(owner: owner.object!) {
            begun.open()
            await OwnedTaskTests.cancellation()
            await gate.pass()
            log.add("returned \(Task.isCancelled)")
        }
        OwnerLifetime.whenEnded(owner.object!) { log.add("called") }
        await begun.pass()
        let observers = OwnerObservers(of: owner.object!)
        let task = try #require(observers.first { _ in true }?.registration)
        let finishing = Task {
            await observers.finish()
            log.add("finished")
        }
        #expect(await isWaitedFor(task.address))
        gate.open()
        await finishing.value
        #expect(log.entries == ["returned true", "finished"])
        #expect(observers.isEmpty)
        owner.release()
        #expect(log.entries.last == "called")
    }

    @Test func `O12 a task that is started in a task group's body is its owner's`() async {
        let owner = Owner()
        let values = await withTaskGroup(of: Int.self) { group in
            let task = Task(owner: owner) { 1 }
            group.addTask { await task.value }
            return await group.reduce(0, +)
        }
        #expect(values == 1)
        withExtendedLifetime(owner) {}
    }

    @Test func `O12 R2 a task in a handler does not wait for the handler around it`() async {
        let (center, log, gate) = (ObserverCenter(), log, AsyncGate())
        let token = Box<NotificationObserver?>()
        let owner = Owner()
        token.set(
            center.observe(.sample) { _ in
                await Task(owner: owner) { _ = await token.value?.cancelAndWait() }.value
                log.add("returned")
                gate.open()
            })
        center.post(name: .sample, object: nil)
        await gate.pass()
        #expect(log.entries == ["returned"])
        token.drop()
        withExtendedLifetime(owner) {}
    }
}

extension Recorder {
    /// Starts a task on the actor.
    fileprivate func start(for owner: some AnyObject, _ done: @escaping @Sendable () -> Void) {
        Task(owner: owner) {
            self.record("begun")
            done()
        }
    }
}
