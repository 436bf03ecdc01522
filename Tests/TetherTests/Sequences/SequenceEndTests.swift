import Foundation
import Testing
import Tether

/// The ends of async sequences, which leave nothing behind.
@Suite struct SequenceEndTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    /// Iterates in a task that logs each number, then "end".
    private func iterate(_ sequence: NotificationSequence<Notification>, begun: AsyncGate? = nil)
        -> Task<Void, Never>
    {
        let log = log
        return Task {
            begun?.open()
            for await note in sequence { log.add("\(note.number)") }
            log.add("end")
        }
    }

    private func ends(_ task: Task<Void, Never>) async -> Bool { await inTime { await task.value } }

    @Test func `F1 S2 R10 earlier posts are given after the end of Foundation's center, too`()
        async
    {
        let center = Holder(NotificationCenter())
        let sequence = center.object!.notifications(named: .sample)
        center.object!.post(name: .sample, object: nil, userInfo: ["number": 7])
        center.release()
        var numbers: [Int] = []
        for await note in sequence { numbers.append(note.number) }
        #expect(numbers == [7])
    }

    @Test func `S2 R10 a sequence ends with its unretained center, after the earlier posts`()
        async
    {
        let (center, begun) = (Holder(ObserverCenter()), AsyncGate())
        let (early, late) = (
            center.object!.notifications(named: .sample),
            center.object!.notifications(named: .other)
        )
        center.object!.post(.sample, numbers: 1...3)
        let waiting = iterate(late, begun: begun)
        await begun.pass()
        center.release()
        #expect(await ends(waiting))
        #expect(await ends(iterate(early)))
        #expect(log.entries == ["end", "1", "2", "3", "end"])
    }

    @Test func `S2 a sequence ends when its task is cancelled, and leaves nothing behind`() async {
        let (center, begun) = (center, AsyncGate())
        let sequence = center.notifications(named: .sample)
        let task = iterate(sequence, begun: begun)
        await begun.pass()
        center.post(.sample, numbers: 1...1)
        let log = log
        #expect(
            await inTime { while log.entries.isEmpty, !Task.isCancelled { await Task.yield() } })
        task.cancel()
        #expect(await ends(task))
        #expect(log.entries == ["1", "end"])
        // Although the sequence is still there.
        #expect(center.isEmpty)
        withExtendedLifetime(sequence) {}
    }

    @Test func `S2 a cancelled task's observer ends at once, though the iterator is kept`() async {
        let (center, log) = (center, log)
        let sequence = center.notifications(named: .sample)
        let task = Task {
            var iterator = sequence.makeAsyncIterator()
            log.add("begun")
            let element = await iterator.next()
            log.add("\(element == nil), \(center.audit().count) observers")
            withExtendedLifetime(iterator) {}
        }
        #expect(
            await inTime { while log.entries.isEmpty, !Task.isCancelled { await Task.yield() } })
        task.cancel()
        #expect(await inTime { await task.value })
        #expect(log.entries == ["begun", "true, 0 observers"])
    }

    private func post(_ payload: Ending, number: Int) {
        center.post(name: .sample, object: nil, userInfo: ["number": number, "payload": payload])
    }

    @Test func `S2 an ended iteration stays ended, and a later iteration observes`() async {
        let sequence = center.notifications(named: .sample)
        center.removeObservers(named: .sample)
        center.post(.sample, numbers: 1...3)
        var ended = sequence.makeAsyncIterator()
        #expect(await ended.next() == nil)
        var later = sequence.makeAsyncIterator()
        center.post(.sample, numbers: 4...4)
        #expect(await ended.next() == nil)
        #expect(await later.next()?.number == 4)
    }

    @Test func `S2 a stored sequence observes nothing, and keeps nothing, between two iterations`()
        async
    {
        let (center, log) = (center, log)
        let sequence = center.notifications(named: .sample)
        post(Ending { log.add("payload dropped") }, number: 1)
        do {
            var iterator = sequence.makeAsyncIterator()
            #expect(await iterator.next()?.number == 1)
        }
        #expect(log.entries == ["payload dropped"])
        #expect(center.isEmpty)
        withExtendedLifetime(sequence) {}
    }

    @Test func `S2 R10 M5 an iteration after its owner's, sender's or center's end is at its end`()
        async
    {
        let (center, owner, sender) = (
            Holder(ObserverCenter()), Holder(LoggedObject("owner", log)), Holder(Album())
        )
        let sequences = [
            center.object!.notifications(named: .sample, owner: owner.object!),
            center.object!.notifications(named: .sample, from: sender.object!),
            center.object!.notifications(named: .sample),
            NotificationCenter().notifications(named: .sample),
        ]
        for sequence in sequences { _ = sequence.makeAsyncIterator() }
        owner.release()
        #expect(log.entries == ["owner deinit"])
        sender.release()
        #expect(await ends(iterate(sequences[0])))
        #expect(await ends(iterate(sequences[1])))
        #expect(center.object!.isEmpty)
        center.release()
        #expect(await ends(iterate(sequences[2])))
        #expect(await ends(iterate(sequences[3])))
        #expect(log.entries.count == 5)
    }

    @Test func `S2 the observer stays with an iterator, and ends with the loop that is left`() async
    {
        let center = center
        await iterateOnce(center.notifications(named: .sample))
        #expect(center.isEmpty)
    }

    private func iterateOnce(_ sequence: consuming NotificationSequence<Notification>) async {
        var iterator = sequence.makeAsyncIterator()
        center.post(.sample, numbers: 1...2)
        #expect(await iterator.next()?.number == 1)
        #expect(center.audit().map(\.pending) == [1])
    }
}
