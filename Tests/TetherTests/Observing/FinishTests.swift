import Dispatch
import Foundation
import Testing

@testable import Tether

/// The graceful end: earlier posts are handled, and then the observer ends (R11).
@Suite(.ownThread) struct FinishTests {
    private typealias Result = NotificationObserver.WaitResult

    private let center = ObserverCenter()
    private let log = Log<String>()

    @Test func `R11 P4 finish lets the pending calls of an async handler end`() async {
        let (center, log, begun, goOn) = (center, Log<Int>(), AsyncGate(), AsyncGate())
        let token = center.observe(.sample) { note in
            if note.number == 1 {
                begun.open()
                await goOn.pass()
            }
            #expect(!Task.isCancelled)
            log.add(note.number)
        }
        center.post(.sample, numbers: 1...10)
        await begun.pass()
        let registration = token.registration?.address ?? .none
        let finished = Task { await token.finish() }
        #expect(await isWaitedFor(registration))
        goOn.open()
        #expect(await finished.value == .finished)
        #expect(log.entries == Array(1...10))
        #expect(!token.isActive)
    }

    @Test func `R11 finish takes no further post from the beginning`() async {
        let (center, queue, log) = (center, DispatchQueue(label: "FinishTests"), Log<Int>())
        let token = center.observe(.sample, on: .dispatchQueue(queue)) { log.add($0.number) }
        queue.suspend()
        center.post(.sample, number: 1)
        let registration = token.registration?.address ?? .none
        let finished = Task { await token.finish() }
        #expect(await isWaitedFor(registration))
        center.post(.sample, number: 2)
        #expect(token.isActive)
        queue.resume()
        #expect(await finished.value == .finished)
        #expect(log.entries == [1])
    }

    @Test func `R11 all observers of an owner take no post from the beginning of finish`() async {
        let (center, log, scheduler, owner) = (center, log, ManualScheduler(), NSObject())
        let first = center.observe(.sample, owner: owner, on: .custom(scheduler)) { _, _ in
            log.add("first")
            center.post(.other)
        }
        center.observe(.other, owner: owner) { _, _ in log.add("second") }
        center.post(.sample)
        let registration = first.registration?.address ?? .none
        let observers = OwnerObservers(of: owner)
        let finished = Task { await observers.finish() }
        #expect(await isWaitedFor(registration))
        scheduler.runAll()
        #expect(await finished.value == .finished)
        #expect(log.entries == ["first"])
    }

    @Test(arguments: [true, false])
    func `R11 the blocking form waits for a queue, and not longer than it must`(isPosted: Bool) {
        let queue = DispatchQueue(label: "FinishTests")
        let token = center.observe(.sample, on: .dispatchQueue(queue)) { [log] _ in
            log.add("handled")
        }
        if isPosted { center.post(.sample) }
        #expect(token.finish() == .finished)
        #expect(log.entries == (isPosted ? ["handled"] : []))
        #expect(!token.isActive)
        #expect(token.finish() == .finished)
    }

    @Test func `R11 finish of an observer on the posting thread waits for its running handler`() {
        let (center, log, token) = (center, log, Box<NotificationObserver?>())
        let (begun, goOn, ended) = (Gate(), Gate(), Gate())
        token.set(
            center.observe(.sample) { _ in
                begun.open()
                goOn.pass()
                log.add("returned")
            })
        Thread.detachNewThread { center.post(.sample) }
        begun.pass()
        Thread.detachNewThread {
            log.add("\(token.value?.finish() as Any)")
            ended.open()
        }
        let registration = token.value?.registration?.address ?? .none
        while !HandlerWait.isAwaited(registration) { sched_yield() }
        goOn.open()
        ended.pass()
        #expect(log.entries == ["returned", "\(Result?.some(.finished) as Any)"])
        token.drop()
    }

    @Test func `R11 R2 a handler that finishes its observer does not wait; the rest is handled`() {
        let (center, log, token) = (center, log, Box<NotificationObserver?>())
        let queue = DispatchQueue(label: "FinishTests")
        token.set(
            center.observe(.sample, on: .dispatchQueue(queue)) { note in
                log.add("\(note.number)")
                if note.number == 1 { log.add("\(token.value?.finish() ?? .finished)") }
            })
        queue.suspend()
        center.post(.sample, numbers: 1...2)
        queue.resume()
        queue.settle()
        #expect(log.entries == ["1", "wouldDeadlock", "2"])
        #expect(token.value?.isActive == false)
        token.drop()
    }

    /// Nothing is pending, and nobody need wait for the caller's own handler.
    @Test func `R11 D1 a handler inside a post that finishes its own observer ends it at once`() {
        let (center, log, token) = (center, log, Box<NotificationObserver?>())
        token.set(
            center.observe(.sample) { note in
                log.add("\(note.number)")
                log.add("\(token.value?.finish() ?? .wouldDeadlock)")
                log.add("\(token.value?.isActive ?? true)")
            })
        center.post(.sample, numbers: 1...2)
        #expect(log.entries == ["1", "finished", "false"])
        token.drop()
    }

    @Test func `R11 R8 an async handler's captures are released before finish returns`() async {
        let (center, log) = (center, log)
        let token = observe(
            capturing: Ending { [log] in
                // Not a wait: the time in which a `finish()` that is over too early would go on.
                usleep(20_000)
                log.add("released")
            })
        center.post(.sample)
        await token.finish()
        log.add("finished")
        #expect(log.entries == ["called", "released", "finished"])
    }

    private func observe(capturing captured: Ending) -> NotificationObserver {
        center.observe(.sample) { [log] _ async in
            captured.touch()
            log.add("called")
        }
    }

    @Test func `R11 no handler runs after finish has returned, also beside posts`() throws {
        let queue = DispatchQueue(label: "FinishTests.race", attributes: .concurrent)
        let late = Counter()
        try race(
            rounds: 1000,
            setUp: { _ in
                let (center, hasFinished) = (ObserverCenter(), Flag())
                let token = center.observe(
                    .sample, on: .dispatchQueue(queue, concurrently: true)
                ) { _ in
                    if hasFinished.isRaised { late.add() }
                }
                return (center, token, hasFinished)
            },
            { (center, _, _) in for _ in 1...5 { center.post(.sample) } },
            { (_, token, hasFinished) in
                _ = token.finish()
                hasFinished.raise()
            },
            check: { (_, token, _) in
                try require(!token.isActive, "the observer is active after finish()")
            })
        queue.sync(flags: .barrier) {}
        #expect(late.count == 0)
    }

    @Test func `R11 finish waits for a handler that ends its own observer`() throws {
        let queue = DispatchQueue(label: "FinishTests.end")
        try race(
            rounds: 2000,
            setUp: { _ in
                let (token, begun, returned) = (Box<NotificationObserver?>(), Flag(), Flag())
                let center = ObserverCenter()
                token.set(
                    center.observe(.sample, on: .dispatchQueue(queue)) { _ in
                        begun.raise()
                        token.value?.cancel()
                        // Long enough to be met by a wait that is already over.
                        for _ in 0..<100 { _ = token.value }
                        returned.raise()
                    })
                return (center, token, begun, returned, Flag())
            },
            { (center, _, _, _, _) in center.post(.sample) },
            { (_, token, begun, returned, isLate) in
                _ = token.value?.finish()
                let hasReturned = returned.isRaised
                if begun.isRaised, !hasReturned { isLate.raise() }
            },
            check: { (_, token, _, _, isLate) in
                queue.sync {}
                token.set(nil)
                try require(!isLate.isRaised, "a handler ran when finish() had returned")
            })
    }

    @Test func `R11 a cancelled task ends an observer that cannot finish`() async {
        let (center, queue) = (center, OperationQueue())
        queue.isSuspended = true
        let token = center.observe(.sample, on: .operationQueue(queue)) { [log] _ in
            log.add("handled")
        }
        center.post(.sample)
        let registration = token.registration?.address ?? .none
        let finished = Task { await token.finish() }
        #expect(await isWaitedFor(registration))
        finished.cancel()
        #expect(await finished.value == .finished)
        #expect(!token.isActive)
        queue.isSuspended = false
        onThreads({ queue.waitUntilAllOperationsAreFinished() })
        #expect(log.entries == [])
    }

    @Test func `R11 R8 finish does not wait for a thread that is releasing the captures`() {
        let (center, log) = (center, log)
        let (isReleasing, goOn) = (Gate(), Gate())
        let captured = Box<Ending?>(
            Ending {
                isReleasing.open()
                goOn.pass()
                log.add("released")
            })
        let token = center.observe(.sample) { [captured = captured.value] _ in
            withExtendedLifetime(captured) {}
        }
        captured.drop()
        let cancelling = JoinableThread { token.cancel() }
        isReleasing.pass()
        #expect(token.finish() == .finished)
        log.add("finished")
        goOn.open()
        cancelling.join()
        #expect(log.entries == ["finished", "released"])
    }

    @Test func `R11 an owner and a center finish all of their observers`() async {
        let (center, log) = (center, Log<String>())
        let (owner, other) = (NSObject(), NSObject())
        let queue = DispatchQueue(label: "FinishTests")
        for name in ["a", "b"] {
            center.observe(.sample, owner: owner, on: .dispatchQueue(queue)) { _, _ in
                log.add(name)
            }
        }
        center.observe(.sample, owner: other) { _, _ async in log.add("other") }
        queue.suspend()
        center.post(.sample)
        queue.resume()
        #expect(await OwnerObservers(of: owner).finish() == .finished)
        #expect(log.entries.filter { $0 != "other" } == ["a", "b"])
        #expect(OwnerObservers(of: owner).isEmpty && OwnerObservers(of: other).count == 1)
        center.post(.sample)
        #expect(await center.finish() == .finished)
        #expect(log.entries.count { $0 == "other" } == 2)
        #expect(OwnerObservers(of: other).isEmpty)
        let later = center.observe(.sample) { _ in log.add("later") }
        center.post(.sample)
        #expect(log.entries.last == "later")
        withExtendedLifetime((owner, other, later)) {}
    }

    @Test func `R11 S2 the notifications of a finished sequence are still taken`() async {
        let center = center
        var iterator = center.notifications(named: .sample).makeAsyncIterator()
        center.post(.sample, numbers: 1...2)
        #expect(await center.finish() == .finished)
        center.post(.sample, number: 3)
        var numbers: [Int] = []
        while let note = await iterator.next() { numbers.append(note.number) }
        #expect(numbers == [1, 2])
    }

    @Test func `R11 D9 finish waits for the notification that a muted observer keeps`() async {
        let (center, log) = (center, log)
        let token = center.observe(.sample) { _ in log.add("kept") }
        token.mute(keepingNewest: true)
        center.post(.sample)
        let registration = token.registration?.address ?? .none
        let finished = Task { await token.finish() }
        #expect(await isWaitedFor(registration))
        token.unmute()
        #expect(await finished.value == .finished)
        #expect(log.entries == ["kept"])
    }

    @Test(arguments: [true, false])
    func `R11 P4 a finishing observer lives until its async call has returned`(once: Bool) async {
        let (begun, goOn) = (AsyncGate(), AsyncGate())
        let token = center.observe(.sample, once: once) { _ in
            begun.open()
            await goOn.pass()
            #expect(!Task.isCancelled)
        }
        center.post(.sample)
        await begun.pass()
        let registration = token.registration?.address ?? .none
        let finished = Task { await token.finish() }
        #expect(await isWaitedFor(registration))
        #expect(token.isActive)
        #expect(center.audit().count == 1)
        goOn.open()
        #expect(await finished.value == .finished)
        #expect(!token.isActive)
    }

    @Test(arguments: [true, false])
    func `R11 P4 a cancelled task that finishes cancels the async call`(once: Bool) async {
        let begun = AsyncGate()
        let cancelled = Flag()
        let endless = AsyncStream<Void>.makeStream()
        let token = center.observe(.sample, once: once) { _ in
            begun.open()
            // Ends when the task is cancelled.
            for await _ in endless.stream {}
            if Task.isCancelled { cancelled.raise() }
        }
        center.post(.sample)
        await begun.pass()
        let registration = token.registration?.address ?? .none
        let finished = Task { await token.finish() }
        #expect(await isWaitedFor(registration))
        finished.cancel()
        #expect(await finished.value == .finished)
        #expect(cancelled.isRaised)
        endless.continuation.finish()
    }

    @Test func `R11 R2 an async handler that finishes its own observer does not wait`() async {
        let (log, done) = (log, AsyncGate())
        let token = Box<NotificationObserver?>()
        token.set(
            center.observe(.sample) { _ in
                log.add("\(await token.value?.finish() ?? .finished)")
                done.open()
            })
        center.post(.sample)
        await done.pass()
        #expect(await token.value?.finish() == .finished)
        #expect(log.entries == ["wouldDeadlock"])
        token.drop()
    }

    @Test func `R11 R2 of two async handlers that finish each other the later call says so`() async
    {
        let (center, log, done) = (center, log, AsyncGate())
        let (one, two) = (Box<NotificationObserver?>(), Box<NotificationObserver?>())
        let (oneRuns, twoRuns) = (AsyncGate(), AsyncGate())
        one.set(
            center.observe(.sample) { _ in
                oneRuns.open()
                await twoRuns.pass()
                log.add("\(await two.value?.finish() ?? .finished)")
                done.open()
            })
        two.set(
            center.observe(.sample) { _ in
                twoRuns.open()
                await oneRuns.pass()
                log.add("\(await one.value?.finish() ?? .finished)")
                done.open()
            })
        center.post(.sample, number: 1)
        await done.pass()
        await done.pass()
        #expect(log.entries == ["wouldDeadlock", "finished"])
        one.drop()
        two.drop()
    }
}
