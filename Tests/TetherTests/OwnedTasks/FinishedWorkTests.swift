import Dispatch
import Foundation
import Testing

@testable import Tether

/// The graceful end of owners with loops, tasks and closures (R11).
@Suite(.ownThread) struct FinishedWorkTests {
    private final class Owner: Sendable {}

    private let center = ObserverCenter()
    private let owner = Owner()
    private let log = Log<Int>()
    private let begun = AsyncGate()
    private let goOn = AsyncGate()

    /// The sequence that a loop is over.
    enum Source: CaseIterable {
        case notifications, operators, values, ownSequence

        @discardableResult
        func observe(
            _ center: ObserverCenter, owner: some AnyObject,
            _ handler: @escaping @Sendable (Int) async -> Void
        ) -> Task<Void, Never> {
            switch self {
            case .notifications:
                center.notifications(named: .sample).observe(owner: owner) { _, note in
                    await handler(note.number)
                }
            case .operators:
                center.notifications(named: .sample, making: { $0.number }).filter { $0 > 0 }
                    .observe(owner: owner) { _, number in await handler(number) }
            case .values:
                center.notifications(named: .sample, making: { $0.number })
                    .observe(owner: owner) { _, number in await handler(number) }
            case .ownSequence:
                center.notifications(named: .sample, owner: owner).observe(owner: owner) {
                    _, note in await handler(note.number)
                }
            }
        }
    }

    /// What ends gracefully.
    enum Finished: CaseIterable {
        case owner, center

        func finish(_ owner: AnyObject, _ center: ObserverCenter) async
            -> NotificationObserver.WaitResult
        {
            switch self {
            case .owner: await OwnerObservers(of: owner).finish()
            case .center: await center.finish()
            }
        }
    }

    /// The registration that was attached to the owner last.
    private var lastAttached: RegistrationAddress {
        Array(OwnerObservers(of: owner)).last?.registration?.address ?? .none
    }

    // MARK: Loops

    @Test(arguments: Source.allCases, Finished.allCases)
    func `R11 O13 a finished loop over a center's sequence takes what waits`(
        source: Source, finished: Finished
    ) async {
        let (log, begun, goOn, center, owner) = (log, begun, goOn, center, owner)
        let loop = source.observe(center, owner: owner) { number in
            if number == 1 {
                begun.open()
                await goOn.pass()
            }
            #expect(!Task.isCancelled)
            log.add(number)
        }
        center.post(.sample, number: 1)
        await begun.pass()
        center.post(.sample, numbers: 2...5)
        let address = lastAttached
        let result = Task { await finished.finish(owner, center) }
        #expect(await isWaitedFor(address))
        center.post(.sample, number: 6)
        goOn.open()
        #expect(await result.value == .finished)
        #expect(log.entries == [1, 2, 3, 4, 5])
        await loop.value
        #expect(OwnerObservers(of: owner).isEmpty && !loop.isCancelled)
    }

    /// The loop is enqueued on the main actor, and cannot begin before the first `await`.
    @MainActor @Test(arguments: [Source.notifications, .values, .ownSequence], Finished.allCases)
    func `R11 O13 a loop that has not begun yet takes what waits, too`(
        source: Source, finished: Finished
    ) async {
        let log = log
        switch source {
        case .operators, .notifications, .ownSequence:
            center.notifications(named: .sample).observe(owner: owner) { @MainActor _, note in
                log.add(note.number)
            }
        case .values:
            center.notifications(named: .sample, making: { $0.number }).observe(owner: owner) {
                @MainActor _, number in log.add(number)
            }
        }
        center.post(.sample, numbers: 1...5)
        #expect(await finished.finish(owner, center) == .finished)
        #expect(log.entries == [1, 2, 3, 4, 5])
    }

    @MainActor @Test func `R11 O13 a center knows of a loop that has not begun yet`() async {
        let log = log
        let loop = center.notifications(named: .sample).observe(owner: owner) {
            @MainActor _, note in log.add(note.number)
        }
        center.post(.sample, numbers: 1...5)
        #expect(block { center.finish() } == .wouldDeadlock)
        await loop.value
        #expect(log.entries == [1, 2, 3, 4, 5])
    }

    @Test func `R11 O13 finish stops any other loop between two elements`() async {
        let (log, begun, goOn, owner) = (log, begun, goOn, owner)
        let (numbers, continuation) = AsyncStream<Int>.makeStream()
        let loop = numbers.observe(owner: owner) { _, number in
            begun.open()
            await goOn.pass()
            #expect(!Task.isCancelled)
            log.add(number)
        }
        for number in 1...3 { continuation.yield(number) }
        await begun.pass()
        let address = lastAttached
        let finished = Task { await OwnerObservers(of: owner).finish() }
        #expect(await isWaitedFor(address))
        goOn.open()
        #expect(await finished.value == .finished)
        #expect(log.entries == [1])
        await loop.value
    }

    @Test func `R11 O13 finish ends a loop that waits for an element`() async {
        let (log, begun, owner) = (log, begun, owner)
        let (numbers, continuation) = AsyncStream<Int>.makeStream()
        let loop = numbers.observe(owner: owner) { _, number in
            log.add(number)
            begun.open()
        }
        continuation.yield(1)
        await begun.pass()
        #expect(await OwnerObservers(of: owner).finish() == .finished)
        continuation.yield(2)
        await loop.value
        #expect(log.entries == [1])
    }

    @Test func `R11 O13 a loop that finishes its owner takes the rest by itself`() async {
        let (log, center, owner, goOn) = (log, center, owner, goOn)
        let loop = center.notifications(named: .sample).observe(owner: owner) { _, note in
            log.add(note.number)
            if note.number == 1 {
                await goOn.pass()
                #expect(await OwnerObservers(of: owner).finish() == .wouldDeadlock)
            }
        }
        center.post(.sample, numbers: 1...3)
        goOn.open()
        await loop.value
        #expect(log.entries == [1, 2, 3])
    }

    @Test func `R11 O6 O13 finish leaves another owner's loop over the same sequence`() async {
        let (log, center, owner, other) = (log, center, owner, Owner())
        let notifications = center.notifications(named: .sample)
        let first = notifications.observe(owner: owner) { _, note in log.add(note.number) }
        let second = notifications.observe(owner: other) { _, note in log.add(-note.number) }
        center.post(.sample, number: 1)
        #expect(await OwnerObservers(of: other).finish() == .finished)
        await second.value
        center.post(.sample, number: 2)
        #expect(await OwnerObservers(of: owner).finish() == .finished)
        await first.value
        #expect(log.entries.sorted() == [-1, 1, 2])
    }

    /// The loops are enqueued on the main actor, and cannot begin before the first `await`.
    @MainActor @Test func `R11 O13 two loops over one sequence each take what waits`() async {
        let (log, center, owner, other) = (log, center, owner, Owner())
        let notifications = center.notifications(named: .sample)
        for owner in [owner, other] {
            notifications.observe(owner: owner) { @MainActor _, note in log.add(note.number) }
        }
        center.post(.sample, numbers: 1...2)
        #expect(await center.finish() == .finished)
        #expect(log.entries.sorted() == [1, 1, 2, 2])
    }

    /// Each round races with the creator of the loop, which learns of the task after its beginning.
    @Test func `R1 O13 a loop that its handler cancels makes no further call`() async {
        let counts = Log<Int>()
        for _ in 0..<1_000 {
            let (owner, calls) = (Owner(), Counter())
            let (numbers, continuation) = AsyncStream<Int>.makeStream()
            for number in 1...20 { continuation.yield(number) }
            continuation.finish()
            let loop = numbers.observe(owner: owner) { owner, _ in
                calls.add()
                OwnerObservers(of: owner).cancel()
            }
            await loop.value
            if calls.count != 1 { counts.add(calls.count) }
        }
        #expect(counts.entries == [])
    }

    @Test func `R11 O13 a cancelled task that finishes cancels the loop`() async {
        let (begun, goOn, center, owner) = (begun, goOn, center, owner)
        let cancelled = Flag()
        let loop = center.notifications(named: .sample).observe(owner: owner) { _, _ in
            begun.open()
            await goOn.pass()
            if Task.isCancelled { cancelled.raise() }
        }
        center.post(.sample)
        await begun.pass()
        let address = lastAttached
        let finished = Task { await center.finish() }
        #expect(await isWaitedFor(address))
        finished.cancel()
        // The cancellation is passed on by another thread.
        #expect(await inTime { while !loop.isCancelled { await Task.yield() } })
        goOn.open()
        _ = await finished.value
        await loop.value
        #expect(cancelled.isRaised)
    }

    /// A finishing thread beside an element that arrives, a handler that returns, and a loop that
    /// begins.
    @Test(arguments: [true, false])
    func `R11 O13 finish beside elements loses none of a center, and cancels no call`(
        isOfCenter: Bool
    ) throws {
        let wrong = Counter()
        try race(
            rounds: 300,
            setUp: { _ in
                let (center, owner, log) = (ObserverCenter(), Owner(), Log<Int>())
                let (stream, continuation) = AsyncStream<Int>.makeStream()
                let handler: @Sendable (Owner, Int) async -> Void = { _, number in
                    log.add(number)
                    await Task.yield()
                    if Task.isCancelled { wrong.add() }
                }
                if isOfCenter {
                    center.notifications(named: .sample, making: { $0.number })
                        .observe(owner: owner, handler)
                } else {
                    stream.observe(owner: owner, handler)
                }
                return (center, owner, log, continuation)
            },
            { (center, _, _, continuation) in
                for number in 1...5 {
                    center.post(.sample, number: number)
                    continuation.yield(number)
                }
            },
            { (center, owner, log, _) in
                center.post(.sample, number: 0)
                _ = OwnerObservers(of: owner).finish()
                // The loop has returned.
                log.add(-1)
            },
            check: { (_, owner, log, _) in
                let entries = log.entries
                try require(entries.last == -1, "a call after finish(): \(entries)")
                try require(!isOfCenter || entries.contains(0), "lost: \(entries)")
                try require(OwnerObservers(of: owner).isEmpty, "the loop goes on")
            })
        #expect(wrong.count == 0)
    }

    // MARK: Tasks

    @Test func `R11 O12 an owner's tasks are cancelled when its handlers have returned`() async {
        let (center, owner, log) = (center, owner, log)
        let queue = DispatchQueue(label: "FinishedWorkTests")
        let begun = begun
        Task(owner: owner) {
            let gate = AsyncGate()
            await withTaskCancellationHandler {
                begun.open()
                await gate.pass()
            } onCancel: {
                gate.open()
            }
            log.add(-1)
        }
        center.observe(.sample, owner: owner, on: .dispatchQueue(queue)) { _, note in
            log.add(note.number)
        }
        await begun.pass()
        queue.suspend()
        center.post(.sample, numbers: 1...2)
        let address = lastAttached
        let finished = Task { await OwnerObservers(of: owner).finish() }
        #expect(await isWaitedFor(address))
        queue.resume()
        #expect(await finished.value == .finished)
        #expect(log.entries == [1, 2, -1])
    }

    @Test func `R11 O12 a task that a handler starts meanwhile is waited for, too`() async {
        let (center, owner, log) = (center, owner, log)
        let queue = DispatchQueue(label: "FinishedWorkTests")
        let save: @Sendable (Owner, Int) -> Void = { owner, number in
            Task(owner: owner) {
                await Task.yield()
                log.add(number)
                // A task of a task.
                Task(owner: owner) {
                    await Task.yield()
                    log.add(-number)
                }
            }
        }
        center.observe(.sample, owner: owner, on: .dispatchQueue(queue)) { owner, note in
            save(owner, note.number)
        }
        center.notifications(named: .sample).observe(owner: owner) { owner, note in
            save(owner, note.number)
        }
        queue.suspend()
        center.post(.sample, numbers: 1...5)
        let finished = Task { await OwnerObservers(of: owner).finish() }
        queue.resume()
        #expect(await finished.value == .finished)
        #expect(
            log.entries.sorted() == [-5, -5, -4, -4, -3, -3, -2, -2, -1, -1]
                + (1...5).flatMap { [$0, $0] })
        #expect(OwnerObservers(of: owner).isEmpty)
    }

    @Test func `R11 O12 a handler that finishes its owner leaves tasks until it returns`() async {
        let (center, owner, log, begun, goOn) = (center, owner, log, begun, goOn)
        let task = Task(owner: owner) {
            let gate = AsyncGate()
            await withTaskCancellationHandler {
                begun.open()
                await gate.pass()
            } onCancel: {
                gate.open()
            }
            log.add(-1)
        }
        await begun.pass()
        center.observe(.sample, owner: owner) { owner, note async in
            if note.number == 1 {
                await goOn.pass()
                #expect(await OwnerObservers(of: owner).finish() == .wouldDeadlock)
            }
            await Task.yield()
            log.add(note.number)
        }
        center.post(.sample, numbers: 1...3)
        goOn.open()
        await task.value
        #expect(log.entries == [1, 2, 3, -1])
    }

    @Test func `R11 O12 a cancelled finish waits for no row of tasks that start the next`() async {
        let (owner, begun, stops) = (owner, begun, Flag())
        @Sendable func poll() {
            Task(owner: owner) {
                begun.open()
                await Task.yield()
                if !stops.isRaised { poll() }
            }
        }
        poll()
        await begun.pass()
        let finished = Task { await OwnerObservers(of: owner).finish() }
        finished.cancel()
        #expect(await finished.value == .finished)
        stops.raise()
    }

    // MARK: The main thread

    @MainActor @Test func `R11 blocking the main queue for its own deliveries is a deadlock`() async
    {
        let (center, log) = (center, log)
        let token = center.observe(.sample, on: .mainAsync) { log.add($0.number) }
        center.post(.sample, number: 1)
        let address = token.registration?.address ?? .none
        let hasReturned = Flag()
        // A call that blocked would hang all tests. Another thread then ends the observer.
        Thread.detachNewThread {
            while !HandlerWait.isAwaited(address), !hasReturned.isRaised { sched_yield() }
            if !hasReturned.isRaised { token.cancel() }
        }
        #expect(block { token.finish() } == .wouldDeadlock)
        hasReturned.raise()
        #expect(log.entries == [])
        #expect(await token.finish() == .finished)
        #expect(log.entries == [1])
    }

    @MainActor @Test func `R11 O13 blocking the main queue for a loop there is a deadlock`() async {
        let (center, owner, log) = (center, owner, log)
        center.notifications(named: .sample).observe(owner: owner) { @MainActor _, note in
            log.add(note.number)
        }
        center.post(.sample, number: 1)
        #expect(block { OwnerObservers(of: owner).finish() } == .wouldDeadlock)
        #expect(await OwnerObservers(of: owner).finish() == .finished)
        #expect(log.entries == [1])
    }

    /// A function that is not async may call the blocking forms.
    private func block<Result>(_ body: () -> Result) -> Result { body() }

    // MARK: Cancelling and waiting

    @Test func `R2 O7 cancelAndWait of an owner waits for its handlers, tasks and loops`() async {
        let (center, owner, begun, goOn) = (center, owner, begun, goOn)
        let returned = Counter()
        let pause: @Sendable () async -> Void = {
            begun.open()
            await goOn.pass()
            returned.add()
        }
        let handler = center.observe(.sample, owner: owner) { _, _ async in await pause() }
        center.notifications(named: .sample).observe(owner: owner) { _, _ in await pause() }
        Task(owner: owner) { await pause() }
        center.post(.sample)
        for _ in 1...3 { await begun.pass() }
        let address = handler.registration?.address ?? .none
        let finished = Task { await OwnerObservers(of: owner).cancelAndWait() }
        #expect(await isWaitedFor(address))
        for _ in 1...3 { goOn.open() }
        #expect(await finished.value == .finished)
        #expect(returned.count == 3)
    }
}
