import Foundation
import Testing
import Tether

@globalActor actor Kitchen { static let shared = Kitchen() }

/// Async handlers of plain notifications.
@Suite(.ownThread) struct AsyncHandlerTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    /// Suspends until `count` entries are there.
    private func logged(_ count: Int, in log: Log<String>) async -> [String] {
        let isThere = await log.hasLogged(count)
        if !isThere { Issue.record("Only \(log.entries) was logged.") }
        return log.entries
    }

    private final class Reader: Sendable {
        let log: Log<String>

        init(_ log: Log<String>) {
            self.log = log
        }

        func read(_ number: Int) async {
            log.add("begin \(number)")
            await Task.yield()
            log.add("end \(number)")
        }
    }

    @Kitchen private final class Stove {
        private let log: Log<String>

        init(_ log: Log<String>) { self.log = log }

        func changed(_ number: Int) {
            Kitchen.assertIsolated()
            log.add("changed \(number)")
        }
    }

    /// An operation queue of the user's, with code that runs before the first operation is added.
    /// SAFETY: `willAdd` is set before the queue is used, and then only used by one thread.
    private final class ObservedQueue: OperationQueue, @unchecked Sendable {
        var willAdd: (() -> Void)?

        override func addOperation(_ operation: Operation) {
            willAdd.take()?()
            super.addOperation(operation)
        }
    }

    @Test func `D9 P4 a post before a kept notification's block is handled after it`()
        async
    {
        let owner = Plain()
        let queue = ObservedQueue()
        center.observe(.other, owner: owner, on: .operationQueue(queue)) { _, _ in }
        center.observe(.sample, owner: owner) { [log] _, note async in log.add("\(note.number)") }
        OwnerObservers(of: owner).mute(keepingNewest: true)
        center.post(.other)
        center.post(.sample, number: 1)
        // The unmuting submits the block on the queue first.
        queue.willAdd = { [center] in center.post(.sample, number: 2) }
        OwnerObservers(of: owner).unmute()
        #expect(await logged(2, in: log) == ["1", "2"])
        withExtendedLifetime(owner) {}
    }

    @Test(arguments: CenterKind.allCases)
    func `P4 F1 calls are made one at a time, in posting order, also if handlers await`(
        kind: CenterKind
    ) async {
        let (center, reader) = (kind.makeCenter(), Reader(log))
        let token = center.observe(.sample, owner: reader) { reader, note in
            await reader.read(note.number)
        }
        for number in 1...20 { center.post(.sample, number: number) }
        #expect(await logged(40, in: log) == (1...20).flatMap { ["begin \($0)", "end \($0)"] })
        #expect(token.target.description == "task")
        withExtendedLifetime(reader) {}
    }

    @Test func `P4 a closure calls an async function that runs where it is called`() async {
        let (reader, log) = (Reader(log), log)
        let alone: nonisolated(nonsending) @Sendable (Notification) async -> Void = {
            log.add("alone \($0.number)")
        }
        let owned: nonisolated(nonsending) @Sendable (Reader, Notification) async -> Void = {
            await $0.read($1.number)
        }
        let token = center.observe(.sample) { await alone($0) }
        center.observe(.other, owner: reader) { await owned($0, $1) }
        center.post(.sample, number: 1)
        #expect(await logged(1, in: log) == ["alone 1"])
        center.post(.other, number: 2)
        #expect(await logged(3, in: log) == ["alone 1", "begin 2", "end 2"])
        withExtendedLifetime((token, reader)) {}
    }

    @Test func `P4 neither a post nor another observer waits for a suspended handler`() async {
        let (log, gate) = (log, AsyncGate())
        let tokens = [
            center.observe(.sample) { note in
                await gate.pass()
                log.add("held \(note.number)")
            },
            center.observe(.sample) { note in log.add("free \(note.number)") },
        ]
        center.post(.sample, numbers: 1...2)
        #expect(log.entries == ["free 1", "free 2"])
        gate.open()
        gate.open()
        #expect(await logged(4, in: log).suffix(2) == ["held 1", "held 2"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `P4 P1 a method of a global actor's class is called there, in posting order`()
        async
    {
        let (center, stove) = (center, await Stove(log))
        center.observe(.sample, owner: stove) { stove, note in
            await stove.changed(note.number)
        }
        onThreads({ center.post(.sample, numbers: 1...50) })
        #expect(await logged(50, in: log) == (1...50).map { "changed \($0)" })
        withExtendedLifetime(stove) {}
    }

    @Test func `P4 O2 O3 only a call under way retains its owner, whose end drops pending calls`()
        async
    {
        let (log, begun, gate) = (log, AsyncGate(), AsyncGate())
        let owner = Holder(LoggedObject("owner", log))
        let token = center.observe(.sample, owner: owner.object!) { owner, note in
            log.add("call \(note.number)")
            begun.open()
            await gate.pass()
            owner.touch()
        }
        center.post(.sample, numbers: 1...3)
        await begun.pass()
        owner.release()
        #expect(token.isActive)
        gate.open()
        #expect(await logged(2, in: log) == ["call 1", "owner deinit"])
        #expect(!token.isActive && center.audit().isEmpty)
        await token.cancelAndWait()
        #expect(log.entries == ["call 1", "owner deinit"])
    }

    @Test func `P4 R8 a call's notification is released at its return, pending ones in cancel()`()
        async
    {
        let (log, begun, gate) = (log, AsyncGate(), AsyncGate())
        let token = {
            let captured = Ending { log.add("capture") }
            return center.observe(.sample) { note in
                begun.open()
                await gate.pass()
                withExtendedLifetime((captured, note.userInfo)) {}
            }
        }()
        for name in ["first", "second"] {
            center.post(name: .sample, object: nil, userInfo: ["payload": Ending { log.add(name) }])
        }
        await begun.pass()
        token.cancel()
        #expect(log.entries == ["second"])
        gate.open()
        await token.cancelAndWait()
        // The task of the call releases the captures, after the awaited end.
        #expect(await logged(3, in: log).sorted() == ["capture", "first", "second"])
    }
}
