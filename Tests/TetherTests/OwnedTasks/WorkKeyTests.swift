import Testing
import Tether

/// Keys of tasks and loops: an owner has one at a time with a key.
@Suite(.ownThread) struct WorkKeyTests {
    private final class Owner: Sendable {}

    private let owner = Owner()
    private let log = Log<String>()

    /// A task that logs its cancellation, and has begun when the call returns.
    private func start(_ name: String, key: (any Hashable)?, of owner: Owner) async
        -> Task<Void, Never>
    {
        let (begun, gate, log) = (AsyncGate(), AsyncGate(), log)
        let task = Task(owner: owner, key: key) {
            await withTaskCancellationHandler {
                begun.open()
                await gate.pass()
            } onCancel: {
                log.add("\(name) cancelled")
                gate.open()
            }
        }
        await begun.pass()
        return task
    }

    @Test func `O12 a task replaces its owner's task with an equal key`() async {
        let first = await start("first", key: "search", of: owner)
        let other = await start("other", key: "save", of: owner)
        let otherOwner = Owner()
        let stranger = await start("stranger", key: "search", of: otherOwner)
        let second = await start("second", key: "search", of: owner)
        await first.value
        #expect(log.entries == ["first cancelled"])
        #expect(OwnerObservers(of: owner).audit().map(\.key) == ["\"save\"", "\"search\""])
        OwnerObservers(of: owner).cancel()
        OwnerObservers(of: otherOwner).cancel()
        for task in [other, second, stranger] { await task.value }
    }

    @Test func `O12 the old task is cancelled before the new one begins`() async {
        let log = log
        let first = await start("first", key: 1, of: owner)
        let second = Task(owner: owner, key: 1) { log.add("second begins") }
        await second.value
        await first.value
        #expect(log.entries == ["first cancelled", "second begins"])
    }

    @Test func `O12 a task that has returned leaves its key`() async {
        await Task(owner: owner, key: "once") {}.value
        let task = Task(owner: owner, key: "once") { Task.isCancelled }
        #expect(await !task.value)
    }

    @Test func `O13 a loop with a key ends the old loop`() async {
        let (log, owner) = (log, owner)
        let streams = (1...2).map { _ in AsyncStream<String>.makeStream() }
        let loops = streams.map { stream in
            stream.stream.observe(owner: owner, key: "connection") { _, text in log.add(text) }
        }
        await loops[0].value
        streams[0].continuation.yield("old")
        streams[1].continuation.yield("new")
        streams[1].continuation.finish()
        await loops[1].value
        #expect(log.entries == ["new"])
        #expect(loops[0].isCancelled && !loops[1].isCancelled)
    }

    @Test func `O12 O13 threads that start work with one key leave one of it`() throws {
        try race(
            rounds: 300,
            setUp: { _ in (Owner(), [AsyncGate(), AsyncGate()]) },
            { (owner, gates) in _ = Task(owner: owner, key: 1) { await gates[0].pass() } },
            { (owner, gates) in _ = Task(owner: owner, key: 1) { await gates[1].pass() } },
            check: { (owner, gates) in
                let live = OwnerObservers(of: owner).count
                for gate in gates { gate.open() }
                try require(live == 1, "\(live) tasks have the key")
            })
    }
}
