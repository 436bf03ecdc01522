import Foundation
import Synchronization
import Testing

@testable import Tether

/// Each race has the machine to itself, as far as this suite goes.
@Suite(.ownThread, .serialized) struct OwnerRaceTests {
    private let rounds = extent(10_000, times: "TETHER_RACES")
    /// Where a race is run in both modes.
    private let roundsPerMode = 4 * extent(1_250, times: "TETHER_RACES")

    // MARK: Owners

    @Test(arguments: LifetimeMode.allCases)
    func `O3 O4 R1 owners are released on one thread while others post to them`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let (wrong, traces, isDone) = (Count(), Traces(), Flag())
        allAtOnce(
            { [roundsPerMode] in
                for round in 0..<roundsPerMode {
                    let owner = Holder(Mortal())
                    if round.isMultiple(of: 16) { traces.add(owner.object!) }
                    center.observe(.sample, owner: owner.object!) { owner, _ in
                        if !owner.isAlive { wrong.add() }
                    }
                    if round.isMultiple(of: 64) { sched_yield() }
                    owner.release()
                }
                isDone.raise()
            },
            { while !isDone.isRaised { center.post(name: .sample, object: nil) } })
        #expect(wrong.value == 0)
        mode.expectAfterEnd(center.core.isEmpty && traces.recordCount == 0)
        #expect(traces.count == (roundsPerMode + 15) / 16)
    }

    @Test(arguments: LifetimeMode.allCases)
    func `O1 M9 many threads attach, post and end on one center`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let (calls, traces) = (Count(), Traces())
        let work: @Sendable () -> Void = { [roundsPerMode] in
            for round in 0..<roundsPerMode / 4 {
                let owner = Holder(Mortal())
                if round.isMultiple(of: 16) { traces.add(owner.object!) }
                let mine = ObjectIdentifier(owner.object!)
                let token = center.observe(.sample, from: owner.object!, owner: owner.object!) { owner, _ in
                    if ObjectIdentifier(owner) == mine { calls.add() }
                }
                center.observe(.other, owner: owner.object!, key: "key") { _, _ in }
                center.observe(.other, owner: owner.object!, key: "key") { _, _ in }
                center.post(name: .sample, object: owner.object!)
                switch round % 4 {
                case 0: token.cancel()
                case 1: OwnerObservers(of: owner.object!).cancel()
                case 2: center.removeObservers(from: owner.object!)
                default: break
                }
                owner.release()
            }
        }
        allAtOnce(work, work, work, work)
        #expect(calls.value == roundsPerMode)
        mode.expectAfterEnd(center.core.isEmpty && traces.recordCount == 0)
    }

    @Test func `R3 O3 an observer is stopped, and its center emptied, while its owner ends`() {
        let center = ObserverCenter()
        let (slot, ended, traces) = (SharedHolder<NotificationObserver>(), Count(), Traces())
        let isDone = Flag()
        allAtOnce(
            { [rounds] in
                for round in 0..<rounds {
                    let owner = Holder(Mortal())
                    if round.isMultiple(of: 16) { traces.add(owner.object!) }
                    let capture = LastWord { ended.add() }
                    let token = center.observe(.sample, owner: owner.object!) { _, _ in capture.touch() }
                    slot.set(token)
                    owner.release()
                }
                isDone.raise()
            },
            { while !isDone.isRaised { slot.value?.cancel() } },
            { while !isDone.isRaised { center.removeObservers(named: .sample) } })
        #expect(center.core.isEmpty && traces.recordCount == 0)
        #expect(ended.value == rounds)
    }

    @Test func `O2 O3 an owner ends on the thread that released it, whoever audits or sweeps meanwhile`() {
        let center = LifetimeMode.sweep.makeCenter()
        let (elsewhere, isDone) = (Count(), Flag())
        allAtOnce(
            { [rounds] in
                let thread = ObjectIdentifier(Thread.current)
                for _ in 0..<rounds {
                    let owner = Holder(
                        LastWord { if ObjectIdentifier(Thread.current) != thread { elsewhere.add() } })
                    center.observe(.sample, owner: owner.object!) { _, _ in }
                    owner.release()
                }
                isDone.raise()
            },
            { while !isDone.isRaised { OwnerLifetime.purge() } },
            { while !isDone.isRaised { _ = center.audit().description } })
        #expect(elsewhere.value == 0)
    }

    // MARK: The hook

    @Test func `O1 O3 the hook is put on fresh classes by several threads at once`() {
        let center = ObserverCenter()
        let (wrong, ended) = (Count(), Count())
        @Sendable func attach<A, B, C>(_: A.Type, _: B.Type, _: C.Type) {
            let owner = Holder(Fresh<A, B, C> { ended.add() })
            let token = center.observe(.sample, owner: owner.object!) { _, _ in }
            if !token.isActive { wrong.add() }
            owner.release()
            if token.isActive { wrong.add() }
        }
        let types = Fresh<Void, Void, Void>.arguments
        let work: @Sendable () -> Void = {
            for a in types { for b in types { for c in types { attach(a, b, c) } } }
        }
        allAtOnce(work, work, work)
        let classes = types.count * types.count * types.count
        #expect(classes >= rounds)
        #expect(wrong.value == 0)
        #expect(ended.value == 3 * classes)
        #expect(center.core.isEmpty)
    }

    // MARK: Senders

    @Test(arguments: LifetimeMode.allCases)
    func `M5 senders end while others post from them and register on them`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let (slot, isDone) = (SharedHolder<LastWord>(), Flag())
        let (lastPosts, traces) = (Count(), Traces())
        allAtOnce(
            { [roundsPerMode] in
                var tokens: [NotificationObserver] = []
                for round in 0..<roundsPerMode {
                    let sender = Holder<LastWord>()
                    sender.object = LastWord { sender in center.post(name: .other, object: sender) }
                    if mode == .hook, round.isMultiple(of: 16) { traces.add(sender.object!) }
                    tokens.append(
                        center.observe(.other, from: sender.object!) { _ in
                            lastPosts.add()
                        })
                    slot.set(sender.object)
                    sender.release()
                }
                slot.set(nil)
                isDone.raise()
                // Those that others held last end with them, so the tokens must stay until they are done.
                traces.keep(tokens)
            },
            {
                while !isDone.isRaised {
                    if let sender = slot.value { center.post(name: .sample, object: sender) }
                }
            },
            {
                while !isDone.isRaised {
                    guard let sender = slot.value else { continue }
                    let token = center.observe(.sample, from: sender) { _ in }
                    _ = center.observe(.sample, from: sender) { _ in }
                    token.cancel()
                }
            })
        #expect(lastPosts.value == roundsPerMode)
        mode.expectAfterEnd(center.core.isEmpty && traces.recordCount == 0)
    }
}

/// An owner that tells whether its `deinit` has begun.
private final class Mortal: Sendable {
    private let state = Atomic<Bool>(true)

    var isAlive: Bool { state.load(ordering: .acquiring) }

    deinit { state.store(false, ordering: .releasing) }
}

/// An object that does something in its `deinit`.
private final class LastWord: Sendable {
    private let atEnd: @Sendable (LastWord) -> Void

    init(_ atEnd: @escaping @Sendable (LastWord) -> Void) {
        self.atEnd = atEnd
    }

    convenience init(_ atEnd: @escaping @Sendable () -> Void) {
        self.init { _ in atEnd() }
    }

    func touch() { withExtendedLifetime(self) {} }

    deinit { atEnd(self) }
}

/// A class of its own for every three types.
private final class Fresh<A, B, C>: Sendable {
    private let atEnd: @Sendable () -> Void

    init(_ atEnd: @escaping @Sendable () -> Void) {
        self.atEnd = atEnd
    }

    deinit { atEnd() }
}

extension Fresh {
    static var arguments: [any Any.Type] {
        [
            Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self, UInt32.self,
            UInt64.self, Float.self, Double.self, Bool.self, String.self, Character.self, Substring.self, Data.self,
            Date.self, URL.self, UUID.self, IndexPath.self, Notification.self,
        ]
    }
}

private final class Count: Sendable {
    private let content = Atomic<Int>(0)

    var value: Int { content.load(ordering: .acquiring) }

    func add() { content.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}

/// Traces of objects, from any thread.
private final class Traces: Sendable {
    private let traces = Guarded<[Trace]>([])
    private let tokens = Guarded<[NotificationObserver]>([])

    func add(_ object: AnyObject) {
        let trace = Trace(object)
        traces.withLock { $0.append(trace) }
    }

    func keep(_ tokens: [NotificationObserver]) { self.tokens.withLock { $0 = tokens } }

    var count: Int { traces.withLock(\.count) }

    var recordCount: Int { traces.withLock { $0.count { $0.hasRecord } } }
}
