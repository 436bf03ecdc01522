import CAllocations
import Foundation
import Testing
import Tether

@Suite struct NotificationSequenceTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    /// The numbers of a sequence's notifications. The sequence must end soon.
    private func numbers(of sequence: NotificationSequence<Notification>) async -> [Int] {
        let log = Log<Int>()
        #expect(await inTime { for await note in sequence { log.add(note.number) } })
        return log.entries
    }

    @Test func `S1 observation begins at the call: no post before the iteration is missed`()
        async
    {
        let sequence = center.notifications(named: .sample)
        #expect(center.audit().count == 1)
        center.post(.sample, numbers: 1...3)
        #expect(center.audit().map(\.pending) == [3])
        var iterator = sequence.makeAsyncIterator()
        center.post(.sample, numbers: 4...5)
        var seen: [Int] = []
        for _ in 1...5 { seen.append(await iterator.next()?.number ?? -1) }
        #expect(seen == [1, 2, 3, 4, 5])
    }

    @Test func `S3 an iterator says how many elements its buffer has dropped`() async {
        let sequence = center.notifications(named: .sample, buffering: .newest(2))
        var iterator = sequence.makeAsyncIterator()
        #expect(iterator.droppedCount == 0)
        center.post(.sample, numbers: 1...5)
        #expect(iterator.droppedCount == 3)
        #expect(await iterator.next()?.number == 4)
        #expect(iterator.droppedCount == 3)
        #expect(sequence.makeAsyncIterator().droppedCount == 0)
    }

    @Test func `S4 values are made on the posting thread, and nil leaves a notification out`() async
    {
        let sequence = center.notifications(
            named: .sample, buffering: .newest(2),
            making: { [log] note in
                log.add("made \(note.number)")
                return note.number > 1 ? note.number * 10 : nil
            })
        center.post(.sample, numbers: 1...4)
        #expect(log.entries == ["made 1", "made 2", "made 3", "made 4"])
        #expect(center.audit().map(\.pending) == [2])
        var iterator = sequence.makeAsyncIterator()
        #expect(await iterator.next() == 30)
        #expect(await iterator.next() == 40)
        #expect(iterator.droppedCount == 1)
    }

    @Test func `S4 a sequence of values keeps no notification`() {
        var payload: Album? = Album()
        weak let reference = payload
        let sequence = center.notifications(named: .sample, making: { $0.name.rawValue })
        center.post(name: .sample, object: nil, userInfo: ["payload": payload as Any])
        payload = nil
        #expect(reference == nil)
        #expect(center.audit().map(\.pending) == [1])
        withExtendedLifetime(sequence) {}
    }

    @Test func `S4 a sequence of values ends with its owner, on every kind of center`() async {
        for kind in CenterKind.allCases {
            let center = kind.makeCenter()
            let owner = Holder(Album())
            let sequence = center.notifications(
                named: .sample, owner: owner.object!, making: { $0.number })
            owner.object = nil
            var iterator = sequence.makeAsyncIterator()
            #expect(await iterator.next() == nil, "\(kind)")
        }
    }

    @Test func `S3 the buffer is bounded as asked, and dropped notifications are counted`() async {
        let center = Holder(ObserverCenter())
        let newest = center.object!.notifications(named: .sample, buffering: .newest(2))
        let oldest = center.object!.notifications(named: .sample, buffering: .oldest(2))
        center.object!.post(.sample, numbers: 1...10)
        #expect(center.object!.audit().map(\.pending) == [2, 2])
        #expect(center.object!.audit().map(\.dropped) == [8, 8])
        center.release()
        #expect(await numbers(of: newest) == [9, 10])
        #expect(await numbers(of: oldest) == [1, 2])
    }

    @Test func `S3 R6 a full buffer releases dropped notifications in the post, without a lock`() {
        let (center, log) = (center, log)
        let sequence = center.notifications(named: .sample, buffering: .newest(1))
        for number in 1...3 {
            let payload = Ending {
                // Would be a deadlock under the center's lock, or the buffer's.
                log.add("\(number) dropped, \(center.audit().count) observers")
            }
            center.post(name: .sample, object: nil, userInfo: ["payload": payload])
        }
        #expect(log.entries == ["1 dropped, 1 observers", "2 dropped, 1 observers"])
        withExtendedLifetime(sequence) {}
    }

    @Test func `S1 each iteration gets every notification that is posted after it began`() async {
        let sequence = center.notifications(named: .sample)
        center.post(.sample, numbers: 1...1)
        var one = sequence.makeAsyncIterator()
        #expect(center.audit().map(\.pending) == [1])
        var two = sequence.makeAsyncIterator()
        center.post(.sample, numbers: 2...3)
        #expect(center.audit().map(\.pending) == [3, 2])
        var seen: [Int?] = []
        for _ in 1...3 { seen.append(await one.next()?.number) }
        for _ in 2...3 { seen.append(await two.next()?.number) }
        #expect(seen == [1, 2, 3, 2, 3])
    }

    @Test func `S1 a stored sequence observes again with all its arguments at each iteration`()
        async
    {
        let (sender, owner) = (Album(), Album())
        let sequences = [
            center.notifications(named: .sample, from: sender, owner: owner, buffering: .newest(2)),
            center.notifications(named: .sample, object: 7),
        ]
        for round in 1...3 {
            var iterators = sequences.map { $0.makeAsyncIterator() }
            for number in 1...4 {
                for object in [sender, owner, 7] as [Any] {
                    center.post(name: .sample, object: object, userInfo: ["number": number])
                }
            }
            #expect(center.audit().map(\.pending) == [2, 4], "round \(round)")
            #expect(OwnerObservers(of: owner).count == 1)
            let seen = [await iterators[0].next()?.number, await iterators[1].next()?.number]
            #expect(seen == [3, 1])
            iterators = []
            #expect(center.isEmpty && OwnerObservers(of: owner).isEmpty)
        }
        withExtendedLifetime((sequences, sender)) {}
    }

    @MainActor @Test func `S1 P3 an isolated function iterates without any annotation`() async {
        final class View {
            var numbers: [Int] = []
        }
        let view = View()
        let sequence = center.notifications(named: .sample)
        center.post(.sample, numbers: 1...3)
        for await note in sequence {
            MainActor.assertIsolated()
            view.numbers.append(note.number)
            if note.number == 3 { break }
        }
        #expect(view.numbers == [1, 2, 3])
    }

    @Test func `S1 M4 Foundation's call for a sequence takes a sender of any kind, and none`() async
    {
        let center = ObserverCenter()
        let (any, text) = (
            center.notifications(named: .sample, object: nil),
            center.notifications(named: .sample, object: "text")
        )
        center.post(name: .sample, object: nil, userInfo: ["number": 1])
        center.post(name: .sample, object: "text", userInfo: ["number": 2])
        var (first, second) = (any.makeAsyncIterator(), text.makeAsyncIterator())
        let seen = [
            await first.next()?.number, await first.next()?.number, await second.next()?.number,
        ]
        #expect(seen == [1, 2, 2])
    }

    @Test func `S1 S2 F1 a sequence of Foundation's center can be iterated until its owner ends`()
        async
    {
        let (foundation, owner) = (NotificationCenter(), Holder(Album()))
        let sequence = foundation.notifications(named: .sample, owner: owner.object!)
        for number in 1...2 {
            foundation.post(name: .sample, object: nil, userInfo: ["number": number])
        }
        var iterator = sequence.makeAsyncIterator()
        let seen = [await iterator.next()?.number, await iterator.next()?.number]
        #expect(seen == [1, 2])
        owner.release()
        foundation.post(name: .sample, object: nil, userInfo: ["number": 3])
        #expect(await iterator.next() == nil)
        #expect(foundation.audit().isEmpty)
    }

    @Test func `X3 S1 a post of a sender's deinit is buffered without the sender`() async {
        let center = center
        let sender = Holder(LoggedObject("sender", log) { center.post(name: .sample, object: $0) })
        let sequence = center.notifications(named: .sample, from: sender.object!)
        sender.release()
        #expect(center.isEmpty)
        var iterator = sequence.makeAsyncIterator()
        let note = await iterator.next()
        #expect(note != nil && note?.object == nil)
        #expect(await iterator.next() == nil)
    }
}
