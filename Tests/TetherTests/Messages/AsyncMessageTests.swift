import CAllocations
import Dispatch
import Foundation
import Testing
import Tether

@Suite struct AsyncMessageTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    /// Suspends until `count` entries are there.
    private func logged(_ count: Int) async -> [String] {
        let isThere = await log.hasLogged(count)
        if !isThere { Issue.record("Only \(log.entries) was logged.") }
        return log.entries
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `T1 a message reaches observers of its subject and of any, by identifier and type`()
        async
    {
        let (log, model, other) = (log, Album(), Album())
        let tokens = [
            center.addObserver(of: model, for: .didSave) { log.add("a \($0.number)") },
            center.addObserver(of: model, for: .type(AlbumDidSave.self)) {
                log.add("c \($0.number)")
            },
            center.addObserver(for: .type(AlbumDidSave.self)) { log.add("d \($0.number)") },
            center.addObserver(of: other, for: .didSave) { _ in log.add("other") },
        ]
        center.post(AlbumDidSave(number: 1), subject: model)
        #expect(await logged(3).sorted() == ["a 1", "c 1", "d 1"])
        center.post(AlbumDidSave(number: 2))
        center.post(AlbumDidSave(number: 3), subject: Album.self)
        #expect(await logged(5).dropFirst(3).sorted() == ["d 2", "d 3"])
        withExtendedLifetime((tokens, model, other)) {}
    }

    /// Is about a value.
    private struct TrackDidPlay: NotificationCenter.AsyncMessage {
        typealias Subject = String
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `T1 M4 a message may be about a value, and is matched by that`() async {
        let (log, owner) = (log, Album())
        let token = center.observe(of: "one", for: .type(TrackDidPlay.self), on: .postingThread) {
            _ in log.add("one")
        }
        center.observe(of: "two", for: .type(TrackDidPlay.self), owner: owner, on: .postingThread) {
            _, _ in
            log.add("two")
        }
        center.observe(for: .type(TrackDidPlay.self), owner: owner, on: .postingThread) { _, _ in
            log.add("any")
        }
        var (two, any) = (
            center.messages(of: "two", for: .type(TrackDidPlay.self)).makeAsyncIterator(),
            center.messages(for: .type(TrackDidPlay.self)).makeAsyncIterator()
        )
        center.post(TrackDidPlay(), subject: "two")
        center.post(TrackDidPlay(), subject: "one")
        center.post(TrackDidPlay())
        #expect(log.entries == ["two", "any", "one", "any", "any"])
        #expect(center.audit().map(\.pending) == [0, 0, 0, 1, 3])
        let isThere = (await two.next() != nil, await any.next() != nil)
        #expect(isThere == (true, true))
        withExtendedLifetime((token, owner)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test func `T1 P1 D3 an async message is observed on the main actor`() async {
        final class Label {
            var numbers: [Int] = []
        }
        let (center, log, label, owner) = (center, log, Label(), Album())
        let token = center.observe(for: .didSave, on: .mainActor) { message in
            MainActor.assertIsolated()
            label.numbers.append(message.number)
        }
        center.observe(of: owner, for: .didSave, owner: owner, on: .mainActor) { _, message in
            label.numbers.append(-message.number)
            log.add("\(message.number)")
        }
        center.post(AlbumDidSave(number: 1), subject: owner)
        #expect(label.numbers == [1, -1])
        onThreads { center.post(AlbumDidSave(number: 2), subject: owner) }
        #expect(label.numbers == [1, -1])
        #expect(await logged(2) == ["1", "2"])
        #expect(label.numbers == [1, -1, 2, -2])
        #expect(center.audit().map(\.target) == ["main", "main"])
        withExtendedLifetime((owner, token)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test
    func `T1 P1 mainActorAsync runs an async message's handlers in a later turn`() async {
        final class Label {
            var numbers: [Int] = []
        }
        let (label, owner) = (Label(), Album())
        let token = center.observe(for: .didSave, on: .mainActorAsync) { message in
            label.numbers.append(message.number)
        }
        center.observe(for: .didSave, owner: owner, on: .mainActorAsync) { _, message in
            label.numbers.append(-message.number)
        }
        center.post(AlbumDidSave(number: 1), subject: owner)
        #expect(label.numbers == [])
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume() }
        }
        #expect(label.numbers == [1, -1])
        withExtendedLifetime((owner, token)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `T1 D1 with a target a handler is synchronous, and runs there`() async {
        let (log, model, owner, queue) = (log, Album(), Album(), DispatchQueue(label: "work"))
        let tokens = [
            center.observe(of: model, for: .didSave, on: .postingThread) {
                log.add("a \($0.number)")
            },
            center.observe(for: .didSave, on: .postingThread) { log.add("b \($0.number)") },
            center.observe(of: model, for: .type(AlbumDidSave.self), on: .postingThread) {
                log.add("c \($0.number)")
            },
            center.observe(for: .type(AlbumDidSave.self), on: .postingThread) {
                log.add("d \($0.number)")
            },
        ]
        center.observe(of: model, for: .didSave, owner: owner, on: .postingThread) {
            log.add("e \($0 === owner)\($1.number)")
        }
        center.observe(for: .didSave, owner: owner, on: .postingThread) {
            log.add("f \($0 === owner)\($1.number)")
        }
        center.observe(of: model, for: .type(AlbumDidSave.self), owner: owner, on: .postingThread) {
            log.add("g \($1.number)")
        }
        center.observe(for: .type(AlbumDidSave.self), owner: owner, on: .dispatchQueue(queue)) {
            _, message in
            dispatchPrecondition(condition: .onQueue(queue))
            log.add("h \(message.number)")
        }
        center.post(AlbumDidSave(number: 1), subject: model)
        let inPost = ["a 1", "b 1", "c 1", "d 1", "e true1", "f true1", "g 1"]
        #expect(log.entries.filter { $0 != "h 1" } == inPost)
        #expect(await logged(8).contains("h 1"))
        withExtendedLifetime((tokens, model, owner)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `R1 R8 a cancellation releases pending messages, which are never delivered`()
        async
    {
        let (log, gate, begun) = (log, AsyncGate(), AsyncGate())
        let token = center.observe(for: .didSave) { message in
            begun.open()
            await gate.pass()
            log.add("called \(message.number)")
        }
        center.post(AlbumDidSave(number: 0))
        await begun.pass()
        let payloads = (1...100).map { number in Ending { log.add("payload dropped") } }
        post(payloads)
        #expect(center.audit().map(\.pending) == [100])
        token.cancel()
        #expect(center.isEmpty)
        gate.open()
        #expect(await token.cancelAndWait() == .finished)
        #expect(log.entries == ["called 0"])
        withExtendedLifetime(payloads) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private func post(_ payloads: [Ending]) {
        for (number, payload) in payloads.enumerated() {
            center.post(
                AlbumDidSave(number: number + 1, payload: AnyObjectPayload(object: payload)))
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `R7 a dropped message uses a once observer up, a notification that makes none not`()
    {
        let (log, queue) = (log, OperationQueue())
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let token = center.observe(for: .didLoad, on: .operationQueue(queue), once: true) { _ in
            log.add("called")
        }
        center.post(name: AlbumDidLoad.name, object: nil)
        queue.cancelAllOperations()
        #expect(token.isActive && center.audit().map(\.dropped) == [0])
        center.post(AlbumDidLoad(number: 1))
        queue.cancelAllOperations()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(!token.isActive && log.entries == [])
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `R7 T2 a dropped notification that makes no message ends no once observer`() {
        let (log, queue) = (log, OperationQueue())
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let token = center.observe(for: .didLoad, on: .operationQueue(queue), once: true) {
            log.add("called \($0.number)")
        }
        center.post(name: AlbumDidLoad.name, object: nil)
        queue.cancelAllOperations()
        for number in 1...2 { center.post(AlbumDidLoad(number: number)) }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["called 1"])
        #expect(!token.isActive)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `O2 O3 an owner is held while an async handler runs, and then ends its observers`()
        async
    {
        let (log, gate, begun) = (log, AsyncGate(), AsyncGate())
        let owner = Holder(LoggedObject("owner", log))
        center.observe(for: .didSave, owner: owner.object!) { owner, message in
            begun.open()
            await gate.pass()
            log.add("called \(message.number) for \(owner.name)")
        }
        for number in 1...3 { center.post(AlbumDidSave(number: number)) }
        await begun.pass()
        owner.release()
        #expect(log.entries == [])
        gate.open()
        #expect(await logged(2) == ["called 1 for owner", "owner deinit"])
        #expect(center.isEmpty)
    }
}
