import Foundation
import Testing
import Tether

/// Loops over sequences that end with their owners.
@Suite struct OwnedSequenceTests {
    private struct Failure: Error, Equatable {}

    private let log = Log<String>()

    // MARK: The forms of handlers

    @Test func `O13 a handler receives its owner and each element, in order`() async {
        let (log, owner) = (log, Holder(LoggedObject("owner", log)))
        let (numbers, input) = AsyncStream.makeStream(of: Int.self)
        let loop = numbers.observe(owner: owner.object!) { owner, number in
            log.add("\(owner.name) \(number)")
        }
        for number in 1...3 { input.yield(number) }
        input.finish()
        await loop.value
        #expect(log.entries == ["owner 1", "owner 2", "owner 3"])
        #expect(OwnerObservers(of: owner.object!).isEmpty)
        owner.release()
    }

    @MainActor @Test
    func `O13 P1 a handler runs on its caller's actor, or on the actor that it names`() async {
        @MainActor final class Sidebar {
            var shown: [Int] = []
            func show(_ number: Int) { shown.append(number) }
        }
        let sidebar = Sidebar()
        let (numbers, input) = AsyncStream.makeStream(of: Int.self)
        let loop = numbers.observe(owner: sidebar) { sidebar, number in sidebar.show(number) }
        input.yield(1)
        input.finish()
        await loop.value
        #expect(sidebar.shown == [1])
        let (others, otherInput) = AsyncStream.makeStream(of: Int.self)
        let other = OwnedSequenceTests.loop(over: others, owner: sidebar) {
            @MainActor sidebar, number in
            MainActor.assertIsolated()
            sidebar.show(number)
        }
        otherInput.yield(2)
        otherInput.finish()
        await other.value
        #expect(sidebar.shown == [1, 2])
    }

    /// Observes from no actor.
    private nonisolated static func loop<Owner: AnyObject & Sendable>(
        over numbers: AsyncStream<Int>, owner: Owner,
        _ handler: @escaping @MainActor @Sendable (Owner, Int) -> Void
    ) -> Task<Void, Never> {
        numbers.observe(owner: owner, handler)
    }

    @Test func `O13 P2 a handler of an actor as owner is isolated to the actor`() async {
        let counter = CountingActor()
        let (numbers, input) = AsyncStream.makeStream(of: Int.self)
        let loop = numbers.observe(owner: counter) { (counter: isolated CountingActor, number) in
            counter.count += number
        }
        for number in 1...3 { input.yield(number) }
        input.finish()
        await loop.value
        #expect(await counter.count == 6)
    }

    @Test func `O13 a loop has its caller's priority, or its own`() async {
        let log = log
        let owner = LoggedObject("owner", Log())
        func observe(priority: TaskPriority?) async {
            let (numbers, input) = AsyncStream.makeStream(of: Int.self)
            input.yield(1)
            input.finish()
            await numbers.observe(owner: owner, priority: priority) { _, _ in
                log.add("\(Task.basePriority == .background)")
            }.value
        }
        await observe(priority: .background)
        await Task(priority: .background) { await observe(priority: nil) }.value
        await Task(priority: .background) { await observe(priority: .utility) }.value
        #expect(log.entries == ["true", "true", "false"])
        withExtendedLifetime(owner) {}
    }

    @Test func `O13 P4 async calls follow each other, and each keeps the owner until its return`()
        async
    {
        let (log, begun, gate) = (log, AsyncGate(), AsyncGate())
        let owner = Holder(LoggedObject("owner", log))
        let (numbers, input) = AsyncStream.makeStream(of: Int.self)
        let loop = numbers.observe(owner: owner.object!) { _, number in
            log.add("begun \(number)")
            begun.open()
            await gate.pass()
            log.add("returned \(number)")
        }
        input.yield(1)
        input.yield(2)
        await begun.pass()
        gate.open()
        await begun.pass()
        #expect(log.entries == ["begun 1", "returned 1", "begun 2"])
        owner.release()
        #expect(log.entries.last == "begun 2")
        gate.open()
        await loop.value
        #expect(log.entries == ["begun 1", "returned 1", "begun 2", "returned 2", "owner deinit"])
    }

    // MARK: The end

    @Test func `O13 O2 a waiting loop does not keep its owner, and ends before its deinit`() async {
        let log = log
        let owner = Holder(LoggedObject("owner", log))
        let (numbers, input) = AsyncStream.makeStream(of: Int.self)
        input.onTermination = { _ in log.add("terminated") }
        let loop = numbers.observe(owner: owner.object!) { _, number in log.add("\(number)") }
        input.yield(1)
        #expect(await log.hasLogged(1))
        // The call may still retain the owner. The owner then ends with the return.
        owner.release()
        await loop.value
        #expect(log.entries == ["1", "terminated", "owner deinit"])
        if case .terminated = input.yield(2) {} else { Issue.record("The stream goes on.") }
    }

    @Test func `O13 O14 a loop that finds no owner for an element is cancelled, too`() async {
        let log = log
        let owner = Holder(LoggedObject("owner", log))
        let (numbers, input) = AsyncStream.makeStream(of: Int.self)
        let hasReturned = Gate()
        // Comes before the end of the loop.
        OwnerLifetime.whenEnded(owner.object!) {
            input.yield(1)
            hasReturned.pass()
        }
        let loop = numbers.observe(owner: owner.object!) { _, number in log.add("\(number)") }
        Thread.detachNewThread { owner.release() }
        await loop.value
        #expect(loop.isCancelled)
        hasReturned.open()
        #expect(await log.hasLogged(1))
        #expect(log.entries == ["owner deinit"])
    }

    @Test func `O13 cancel() ends a loop, and leaves the owner and its other loops`() async {
        let log = log
        let owner = LoggedObject("owner", log)
        let (numbers, input) = AsyncStream.makeStream(of: Int.self)
        let (others, otherInput) = AsyncStream.makeStream(of: Int.self)
        let loop = numbers.observe(owner: owner) { _, number in log.add("\(number)") }
        let other = others.observe(owner: owner) { _, number in log.add("other \(number)") }
        #expect(
            OwnerObservers(of: owner).audit().map(\.target) == [
                "loop over AsyncStream<Int>", "loop over AsyncStream<Int>",
            ])
        loop.cancel()
        await loop.value
        input.yield(1)
        otherInput.yield(1)
        otherInput.finish()
        await other.value
        #expect(log.entries == ["other 1"])
        #expect(OwnerObservers(of: owner).isEmpty)
    }

    @MainActor @Test
    func `O13 R1 no call begins on an actor after cancel() there, with elements waiting`() async {
        let log = log
        let owner = LoggedObject("owner", log)
        let (numbers, input) = AsyncStream.makeStream(of: Int.self)
        let loop = numbers.observe(owner: owner) { _, number in log.add("\(number)") }
        for number in 1...3 { input.yield(number) }
        loop.cancel()
        await loop.value
        #expect(log.entries == [])
        withExtendedLifetime(owner) {}
    }

    @Test func `O13 an error of the sequence ends the loop, and the result throws it`() async {
        let log = log
        let owner = LoggedObject("owner", log)
        let (numbers, input) = AsyncThrowingStream.makeStream(of: Int.self)
        let loop = numbers.observe(owner: owner) { _, number in log.add("\(number)") }
        input.yield(1)
        input.finish(throwing: Failure())
        await #expect(throws: Failure()) { try await loop.value }
        #expect(log.entries == ["1"])
        #expect(OwnerObservers(of: owner).isEmpty)
    }

    @Test func `O13 O8 a loop of an owner that is being deinitialised calls nothing`() async {
        let log = log
        let result = Box<Task<Void, Never>?>()
        let owner = Holder(
            LoggedObject("owner", log) { owner in
                let (numbers, input) = AsyncStream.makeStream(of: Int.self)
                input.yield(1)
                result.set(numbers.observe(owner: owner) { _, number in log.add("\(number)") })
            })
        owner.release()
        await result.value?.value
        #expect(log.entries == ["owner deinit"])
    }

    @Test func `O13 S1 the notifications of a center are a sequence like others`() async {
        let (center, log) = (ObserverCenter(), log)
        let owner = Holder(LoggedObject("owner", log))
        let loop = center.notifications(named: .sample).observe(owner: owner.object!) {
            owner, note in
            log.add("\(owner.name) \(note.number)")
        }
        center.post(.sample, numbers: 1...2)
        #expect(await log.hasLogged(2))
        owner.release()
        await loop.value
        #expect(log.entries == ["owner 1", "owner 2", "owner deinit"])
        #expect(center.audit().isEmpty)
    }
}
