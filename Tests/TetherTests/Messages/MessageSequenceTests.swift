import Foundation
import Testing
import Tether

@Suite struct MessageSequenceTests {
    private let center = ObserverCenter()

    private func numbers<Message>(
        of sequence: NotificationSequence<Message>, _ number: @escaping @Sendable (Message) -> Int
    ) async -> [Int] {
        let log = Log<Int>()
        #expect(await inTime { for await message in sequence { log.add(number(message)) } })
        return log.entries
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `S1 T1 messages of a subject and of any, by identifier and by type`() async {
        let (album, owner) = (Album(), Holder(Album()))
        let sequences = [
            center.messages(of: album, for: .didSave),
            center.messages(of: album, for: .type(AlbumDidSave.self)),
            center.messages(for: .type(AlbumDidSave.self)),
            center.messages(of: album, for: .didSave, owner: owner.object!),
            center.messages(for: .didSave),
        ]
        center.post(AlbumDidSave(number: 1), subject: album)
        center.post(AlbumDidSave(number: 2), subject: Album())
        center.post(AlbumDidSave(number: 3))
        #expect(center.audit().map(\.pending) == [1, 1, 3, 1, 3])
        var iterator = sequences[2].makeAsyncIterator()
        let seen = [
            await iterator.next()?.number, await iterator.next()?.number,
            await iterator.next()?.number,
        ]
        #expect(seen == [1, 2, 3])
        owner.release()
        #expect(await numbers(of: sequences[3], \.number) == [])
        withExtendedLifetime((sequences, album)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `S1 T2 messages that are made of plain notifications arrive, others do not`() async {
        let center = Holder(ObserverCenter())
        let sequence = center.object!.messages(for: .didLoad)
        center.object!.post(name: AlbumDidLoad.name, object: nil, userInfo: ["number": 1])
        center.object!.post(name: AlbumDidLoad.name, object: nil)
        center.object!.post(SameNameAsAlbumDidLoad())
        center.object!.post(AlbumDidLoad(number: 2))
        center.release()
        #expect(await numbers(of: sequence, \.number) == [1, 2])
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `S3 a buffer of the newest keeps as many`() async {
        let center = Holder(ObserverCenter())
        let sequence = center.object!.messages(
            for: .type(AlbumDidSave.self), buffering: .newest(10))
        let all = center.object!.messages(for: .type(AlbumDidSave.self))
        for number in 1...100 { center.object!.post(AlbumDidSave(number: number)) }
        center.release()
        #expect(await numbers(of: sequence, \.number) == Array(91...100))
        #expect(await numbers(of: all, \.number) == Array(1...100))
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `S2 M5 messages posted about a subject before its end are still taken`() async {
        let subject = Holder(Album())
        let sequence = center.messages(of: subject.object!, for: .didSave)
        for number in 1...3 { center.post(AlbumDidSave(number: number), subject: subject.object!) }
        subject.release()
        #expect(center.isEmpty)
        #expect(await numbers(of: sequence, \.number) == [1, 2, 3])
    }
}
