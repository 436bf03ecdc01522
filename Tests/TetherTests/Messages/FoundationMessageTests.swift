import Foundation
import Testing
import Tether

/// Defects of Foundation's center on Linux with typed messages. For each defect, another test shows
/// the right result of Tether's center.
@Suite struct FoundationMessageTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test
    func `T2 a typed message next to observers of any name, and of its own, aborts nothing`() {
        let (log, album) = (log, Album())
        let name = Notification.Name(String(reflecting: AlbumDidChange.self))
        let tokens = [
            center.observe(nil) { note in log.add("any: \(note.name == name)") },
            center.observe(nil, from: album) { _ in log.add("any name from the subject") },
            center.observe(name) { _ in log.add("same name") },
            center.addObserver(forName: name, object: album, queue: nil) { _ in
                log.add("same name and subject")
            },
            center.addObserver(of: album, for: .didChange) { _ in log.add("message") },
        ]
        center.post(AlbumDidChange(number: 1), subject: album)
        #expect(
            log.entries == [
                "any: true", "any name from the subject", "same name", "same name and subject",
                "message",
            ])
        withExtendedLifetime((tokens, album)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test func `T2 a plain notification that has a message's name aborts nothing`() {
        let log = log
        let tokens = [
            center.addObserver(for: .type(AlbumDidChange.self)) { _ in log.add("main-actor message")
            },
            center.addObserver(for: .type(AlbumDidSave.self)) { _ in log.add("async message") },
            center.observe(nil) { _ in log.add("any") },
        ]
        for name in [
            String(reflecting: AlbumDidChange.self), String(reflecting: AlbumDidSave.self),
        ] {
            center.post(name: Notification.Name(name), object: nil, userInfo: ["number": 1])
        }
        #expect(log.entries == ["any", "any"])
        withExtendedLifetime(tokens) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `S2 next returns nil on a task that was cancelled before`() async {
        let (log, sequence) = (log, center.messages(for: .type(AlbumDidSave.self)))
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            var iterator = sequence.makeAsyncIterator()
            log.add(await iterator.next() == nil ? "end" : "message")
        }
        task.cancel()
        #expect(await inTime { await task.value })
        #expect(log.entries == ["end"])
        #expect(center.isEmpty)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `S3 X1 a buffer of 0 is refused with a sentence, and traps in no post`()
        async throws
    {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let size = ([] as [Int]).count
            let center = ObserverCenter()
            let sequence = center.messages(for: .type(AlbumDidSave.self), buffering: .newest(size))
            withExtendedLifetime(sequence) { center.post(AlbumDidSave(number: 1)) }
        }
        #expect(
            String(decoding: result.standardErrorContent, as: UTF8.self).contains(
                "pass 1 or more, or .unbounded"))
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `S2 M5 a subject that is dead before the iteration does not widen to all subjects`()
        async
    {
        let (log, subject) = (log, Holder(Album()))
        let sequence = center.messages(of: subject.object!, for: .type(AlbumDidSave.self))
        subject.release()
        center.post(AlbumDidSave(number: 1), subject: Album())
        center.post(AlbumDidSave(number: 2))
        #expect(await inTime { for await message in sequence { log.add("\(message.number)") } })
        #expect(log.entries == [])
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `S1 nothing is missed that is posted between the call and the iteration`() async {
        let sequence = center.messages(for: .type(AlbumDidSave.self))
        center.post(AlbumDidSave(number: 1))
        var iterator = sequence.makeAsyncIterator()
        #expect(await iterator.next()?.number == 1)
    }
}
