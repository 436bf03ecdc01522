import Foundation
import Testing
import Tether

/// Message observers with a backlog or a muting, as any other observer.
@Suite struct MessageFlowTests: MessageFlowSuite {
    let center = ObserverCenter()
    private let log = Log<Int>()

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `D8 T3 messages that wait for an async handler can be bounded`() async {
        let (log, gate, begun) = (log, AsyncGate(), AsyncGate())
        let token = center.observe(for: .didSave) { message in
            begun.open()
            await gate.pass()
            log.add(message.number)
        }
        token.backlog = .newest(2)
        center.post(AlbumDidSave(number: 0))
        await begun.pass()
        for number in 1...10 { center.post(AlbumDidSave(number: number)) }
        #expect(center.audit().map(\.pending) == [2] && center.audit().map(\.dropped) == [8])
        for _ in 0..<3 { gate.open() }
        await begun.pass()
        await begun.pass()
        #expect(await log.hasLogged(3))
        #expect(log.entries == [0, 9, 10])
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `T2 X3 a message made of a plain notification waits apart from the notification`()
        async
    {
        let log = log
        let queue = DispatchQueue(label: "plain")
        let plain = center.observe(AlbumDidLoad.name, on: .dispatchQueue(queue)) {
            log.add($0.number)
        }
        let token = center.observe(for: .didLoad) { message in
            await Task.yield()
            log.add(message.number + 10)
        }
        center.post(name: AlbumDidLoad.name, object: nil, userInfo: ["number": 1])
        #expect(await log.hasLogged(2))
        #expect(log.entries.sorted() == [1, 11])
        withExtendedLifetime((plain, token)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test
    func `D9 other threads' posts while muted are dropped, or the newest kept, once too`()
        async
    {
        let center = center
        /// The main queue converts these posts later, because the test occupies the queue.
        func post(_ numbers: ClosedRange<Int>) {
            onThreads {
                for number in numbers {
                    center.post(name: AlbumDidClose.name, object: nil, userInfo: ["number": number])
                }
            }
        }
        for (keepingNewest, expected) in [(false, [4]), (true, [3, 4])] {
            for once in [true, false] {
                let log = Log<Int>()
                let token = center.observe(for: .didClose, once: once) { log.add($0.number) }
                token.mute(keepingNewest: keepingNewest)
                post(1...3)
                token.unmute()
                post(4...4)
                await TargetKind.main.makePlace().settle()
                #expect(log.entries == (once ? Array(expected.prefix(1)) : expected))
                withExtendedLifetime(token) {}
            }
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test
    func `M5 D9 a muted observer of an ended subject ends if the kept post is no message`()
        async
    {
        let subject = Holder(Album())
        let token = center.observe(of: subject.object!, for: .didClose) { _ in }
        token.mute(keepingNewest: true)
        onThreads { [center] in
            for _ in 1...2 { center.post(name: AlbumDidClose.name, object: subject.object!) }
        }
        subject.release()
        await TargetKind.main.makePlace().settle()
        #expect(token.isActive)
        // Elsewhere, because unmuting on the main queue delivers there at once.
        onThreads { token.unmute() }
        #expect(token.isActive)
        await TargetKind.main.makePlace().settle()
        #expect(!token.isActive && center.isEmpty)
    }

    @Test func `D9 an owner that is muted mutes its sequences`() async {
        let (center, owner) = (center, Holder(Album()))
        let sequence = center.notifications(named: .sample, owner: owner.object!)
        center.post(.sample, numbers: 1...2)
        OwnerObservers(of: owner.object!).mute()
        center.post(.sample, numbers: 3...4)
        OwnerObservers(of: owner.object!).unmute()
        center.post(.sample, numbers: 5...6)
        var iterator = sequence.makeAsyncIterator()
        var seen: [Int] = []
        for _ in 1...4 { seen.append(await iterator.next()?.number ?? -1) }
        #expect(seen == [1, 2, 5, 6])
        owner.release()
        #expect(await iterator.next() == nil)
    }
}
