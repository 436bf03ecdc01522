import Foundation
import Testing

@testable import Tether

/// Messages and what may be done with any observer: bound what waits for it, and mute it.
@Suite struct MessageFlowTests {
    private let center = ObserverCenter()
    private let log = Log<Int>()

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `D8 T3 what waits for an async handler can be bounded`() async {
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
        #expect(await inTime { while log.entries.count < 3, !Task.isCancelled { await Task.yield() } })
        #expect(log.entries == [0, 9, 10])
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test func `D9 a muted observer of messages gets none, and a once observer is not used up`() {
        let log = log
        let token = center.observe(for: .didChange, once: true) { log.add($0.number) }
        token.mute()
        center.post(AlbumDidChange(number: 1))
        token.unmute()
        center.post(AlbumDidChange(number: 2))
        center.post(AlbumDidChange(number: 3))
        #expect(log.entries == [2])
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test func `D9 what is posted elsewhere while muted is dropped, or the newest kept, once too`() async {
        let center = center
        /// Posts so that the main queue, which this test has, converts these later.
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

    /// What may be posted under the name of `AlbumDidClose`, here or elsewhere; `nil` makes no message.
    private func postNote(_ number: Int?) {
        center.post(name: AlbumDidClose.name, object: nil, userInfo: number.map { ["number": $0] })
    }

    /// Posts notes where nobody can tell what messages they make, because only the main queue can, which the test has.
    private func postElsewhere(_ numbers: Int?...) {
        onThreads { for number in numbers { postNote(number) } }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor private func observed(once: Bool) -> (log: Log<Int>, token: NotificationObserver) {
        let log = Log<Int>()
        return (log, center.observe(for: .didClose, once: once) { log.add($0.number) })
    }

    /// What makes no message of a type, though it has its name.
    enum Stranger: CaseIterable {
        case note, message, noteElsewhere, messageElsewhere

        /// Whether it waits until the main queue can tell.
        var waits: Bool { self == .noteElsewhere || self == .messageElsewhere }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private func post(_ stranger: Stranger) {
        switch stranger {
        case .note: postNote(nil)
        case .message: center.post(SameNameAsAlbumDidClose())
        case .noteElsewhere: postElsewhere(nil)
        case .messageElsewhere: onThreads { center.post(SameNameAsAlbumDidClose()) }
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test(arguments: Stranger.allCases, [false, true])
    func `T2 D9 what makes no message takes a message's kept place only if it was posted elsewhere`(
        stranger: Stranger, once: Bool
    ) async {
        for isPostedElsewhere in [false, true] {
            let (log, token) = observed(once: once)
            token.mute(keepingNewest: true)
            if isPostedElsewhere { postElsewhere(1) } else { center.post(AlbumDidClose(number: 1)) }
            post(stranger)
            token.unmute()
            await TargetKind.main.makePlace().settle()
            #expect(log.entries == (stranger.waits ? [] : [1]))
            #expect(center.audit().map(\.dropped) == (stranger.waits ? [1] : once ? [] : [0]))
            #expect(token.isActive == (stranger.waits || !once))
            token.stop()
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test(arguments: Stranger.allCases)
    func `T2 D8 what makes no message takes a message's place in a backlog only if it was posted elsewhere`(
        stranger: Stranger
    ) async {
        let (log, token) = observed(once: false)
        token.backlog = .newest(1)
        postElsewhere(1)
        post(stranger)
        #expect(center.audit().map(\.dropped) == [stranger.waits ? 1 : 0])
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == (stranger.waits ? [] : [1]))
        #expect(center.audit().map(\.pending) == [0])
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test func `D8 T2 a message that waits gives way to what is posted elsewhere, and the other way round`()
        async
    {
        let (log, token) = observed(once: false)
        let envelope = envelopes([4]).first!
        token.backlog = .newest(2)
        postElsewhere(1, 2)
        onThreads { [center] in
            for _ in 1...2 { center.post(envelope.notification) }
        }
        #expect(center.audit().map(\.pending) == [2] && center.audit().map(\.dropped) == [2])
        postElsewhere(5, nil)
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == [5])
        #expect(center.audit().map(\.dropped) == [4])
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test func `D8 T2 of the oldest, what is posted elsewhere keeps its place before newer messages`() async
    {
        let (log, token) = observed(once: false)
        let envelope = envelopes([4]).first!
        token.backlog = .oldest(2)
        postElsewhere(1, nil, 2)
        onThreads { [center] in
            for _ in 1...3 { center.post(envelope.notification) }
        }
        #expect(center.audit().map(\.pending) == [2] && center.audit().map(\.dropped) == [4])
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == [1])
        #expect(center.audit().map(\.dropped) == [4])
    }

    /// SAFETY: not changed.
    private struct Envelope: @unchecked Sendable { let notification: Notification }

    /// The notifications that messages travel as, which may be posted again anywhere.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor private func envelopes(_ numbers: [Int]) -> [Envelope] {
        let (other, log) = (ObserverCenter(), Log<Envelope>())
        let token = other.observe(nil) { log.add(Envelope(notification: $0)) }
        for number in numbers { other.post(AlbumDidClose(number: number)) }
        return withExtendedLifetime(token) { log.entries }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test(arguments: [false, true])
    func `T3 D4 what is posted elsewhere arrives in posting order, whether it is converted or not`(
        once: Bool
    ) async {
        let (log, token) = observed(once: once)
        let envelopes = envelopes([2, 4])
        let plain = center.observe(AlbumDidClose.name, on: .main) { [log] in log.add(-($0.number)) }
        for (number, envelope) in zip([1, 3], envelopes) {
            postElsewhere(number)
            onThreads { [center] in center.post(envelope.notification) }
        }
        #expect(center.audit().map(\.pending) == [4, 4])
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == (once ? [1, -1, -2, -3, -4] : [1, -1, 2, -2, 3, -3, 4, -4]))
        withExtendedLifetime((token, plain)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test(arguments: [false, true])
    func `D9 what is posted elsewhere before a muting is delivered, though main converts it after`(
        once: Bool
    ) async {
        let (log, token) = observed(once: once)
        postElsewhere(nil, 1)
        token.mute()
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == [1])
        #expect(center.audit().map(\.dropped) == (once ? [] : [0]))
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test(arguments: [false, true])
    func `D9 each muting keeps its own newest, though main converts all of them later`(once: Bool) async {
        let (log, token) = observed(once: once)
        // Elsewhere, because unmuting on the main queue delivers there at once.
        onThreads {
            for number in 1...3 {
                token.mute(keepingNewest: true)
                postNote(nil)
                postNote(-number)
                postNote(number)
                token.unmute()
            }
        }
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == (once ? [1] : [1, 2, 3]))
        #expect(center.audit().map(\.dropped) == (once ? [] : [6]))
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test(arguments: [false, true])
    func `R7 D9 a once observer takes what was posted elsewhere before what was kept after it`(once: Bool) async {
        let (log, token) = observed(once: once)
        postElsewhere(1)
        token.mute(keepingNewest: true)
        center.post(AlbumDidClose(number: 2))
        token.unmute()
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == (once ? [1] : [1, 2]))
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test
    func
        `R7 T2 a once observer is used up by the first that makes a message, and what waits behind it is not converted`()
        async
    {
        let (log, token) = observed(once: true)
        let envelope = envelopes([1])[0]
        postElsewhere(nil)
        onThreads { [center] in center.post(envelope.notification) }
        postElsewhere(2, nil)
        #expect(center.audit().map(\.pending) == [4])
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == [1] && !token.isActive)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test func `R7 D9 what a once observer kept is let go of where the handler that uses it up unmutes it`()
        async
    {
        let (log, token) = (log, Box<NotificationObserver?>(nil))
        token.set(
            center.observe(for: .didClose, once: true) { message in
                log.add(message.number)
                token.value?.unmute()
            })
        postElsewhere(1)
        token.value?.mute(keepingNewest: true)
        postElsewhere(2)
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == [1] && token.value?.isActive == false)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test(arguments: [false, true])
    func `D9 L1 what is displaced while muted is counted as dropped`(
        once: Bool
    ) async {
        let (log, token) = observed(once: once)
        token.mute(keepingNewest: true)
        postElsewhere(1, 2, nil, 3, nil)
        #expect(center.audit().map(\.pending) == [1] && center.audit().map(\.dropped) == [4])
        await TargetKind.main.makePlace().settle()
        postElsewhere(nil, 4)
        #expect(center.audit().map(\.pending) == [1] && center.audit().map(\.dropped) == [6])
        postElsewhere(5)
        center.post(AlbumDidClose(number: 6))
        #expect(center.audit().map(\.pending) == [1] && center.audit().map(\.dropped) == [8])
        token.unmute()
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == [6])
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test func `T2 what a type makes no messages of does not wait for the main queue`() {
        let token = center.observe(for: .didChange) { _ in }
        onThreads { [center] in center.post(name: Notification.Name("TetherTests.AlbumDidChange"), object: nil) }
        #expect(center.audit().map(\.pending) == [0])
        withExtendedLifetime(token) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test
    func `M5 D9 an observer whose subject ended while it was muted ends when what was kept has made no message`() async
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
        #expect(!token.isActive && center.core.isEmpty)
    }

    @Test func `D9 an owner that is muted mutes its sequences`() async {
        let (center, owner) = (center, Holder(Album()))
        let sequence = center.notifications(of: .sample, owner: owner.object!)
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

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `S1 T2 D9 what makes no message does not take a message's kept place in a sequence`() async {
        let owner = Album()
        let sequence = center.messages(for: .didLoad, owner: owner)
        OwnerObservers(of: owner).mute(keepingNewest: true)
        center.post(AlbumDidLoad(number: 1))
        center.post(name: AlbumDidLoad.name, object: nil)
        center.post(SameNameAsAlbumDidLoad())
        OwnerObservers(of: owner).unmute()
        center.post(name: AlbumDidLoad.name, object: nil, userInfo: ["number": 2])
        #expect(center.audit().map(\.pending) == [2] && center.audit().map(\.dropped) == [0])
        var iterator = sequence.makeAsyncIterator()
        let seen = [await iterator.next()?.number, await iterator.next()?.number]
        #expect(seen == [1, 2])
        withExtendedLifetime(owner) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `P1 D6 the target of an async handler stays its task, that of a synchronous one can be switched`() {
        let (log, other) = (log, ManualScheduler())
        let task = center.observe(for: .didSave) { _ in }
        let token = center.observe(for: .didSave, on: .poster) { log.add($0.number) }
        task.target = .poster
        token.target = .custom(other)
        #expect(center.audit().map(\.target) == ["task", "custom ManualScheduler"])
        center.post(AlbumDidSave(number: 1))
        #expect(log.entries == [])
        other.runAll()
        #expect(log.entries == [1])
    }
}
