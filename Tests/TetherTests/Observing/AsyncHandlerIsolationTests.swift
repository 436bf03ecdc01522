import Foundation
import Testing

@testable import Tether

/// Where a handler that is async lets go of what it was called with.
@Suite struct AsyncHandlerIsolationTests {
    /// Who ended, and whether that was on the main actor.
    private struct End: Hashable {
        let name: String
        let isOnMain: Bool
    }

    private let log = Log<End>()

    /// An object that logs where it ends.
    private func ending(_ name: String) -> Ending {
        Ending { [log] in log.add(End(name: name, isOnMain: MainDrains().isCurrent)) }
    }

    private func ends(_ name: String, _ count: Int) -> [End] {
        Array(repeating: End(name: name, isOnMain: true), count: count)
    }

    /// Lets the last other references to what a handler was called with go while it awaits; returns where they went.
    private func ends(
        rounds: Int,
        _ observe: (Ending, _ begun: AsyncGate, _ gate: AsyncGate) -> NotificationObserver, post: (Ending) -> Void
    ) async -> [End] {
        for _ in 1...rounds {
            let (owner, begun, gate) = (Holder(ending("owner")), AsyncGate(), AsyncGate())
            let token = observe(owner.object!, begun, gate)
            post(ending("payload"))
            await begun.pass()
            owner.release()
            gate.open()
            await token.stopAndWait()
        }
        return log.entries.sorted { $0.name < $1.name }
    }

    @Test(arguments: CenterKind.allCases)
    func `O9 F1 P4 a handler of the main actor lets its owner and its notification go there`(kind: CenterKind) async {
        let center = kind.makeCenter()
        let found = await ends(rounds: 200) { owner, begun, gate in
            center.observe(.sample, owner: owner) { @MainActor owner, note in
                begun.open()
                await gate.pass()
                withExtendedLifetime((owner, note)) {}
            }
        } post: {
            center.post(name: .sample, object: nil, userInfo: ["payload": $0])
        }
        #expect(found == ends("owner", 200) + ends("payload", 200))
    }

    @Test func `O9 so does one without an owner`() async {
        let (center, begun, gate) = (ObserverCenter(), AsyncGate(), AsyncGate())
        for _ in 1...100 {
            let token = center.observe(.sample) { @MainActor _ in
                begun.open()
                await gate.pass()
            }
            center.post(name: .sample, object: nil, userInfo: ["payload": ending("payload")])
            await begun.pass()
            gate.open()
            await token.stopAndWait()
        }
        #expect(log.entries == ends("payload", 100))
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `O9 T3 so does one of a message`() async {
        let center = ObserverCenter()
        let found = await ends(rounds: 200) { owner, begun, gate in
            center.observe(for: .didSave, owner: owner) { @MainActor owner, message in
                begun.open()
                await gate.pass()
                withExtendedLifetime((owner, message)) {}
            }
        } post: {
            center.post(AlbumDidSave(number: 1, payload: AnyObjectPayload(object: $0)))
        }
        #expect(found == ends("owner", 200) + ends("payload", 200))
    }

    /// An actor whose jobs run when the test says so.
    @globalActor private actor ManualActor {
        static let shared = ManualActor()
        static let executor = ManualExecutor()

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe ManualActor.executor.asUnownedSerialExecutor() }
    }

    @Test func `O9 P4 one whose observer ends before the call has got to its actor lets them go there, too`() async {
        let (center, isCancelled, ended) = (ObserverCenter(), Log<Bool>(), Log<ObjectIdentifier>())
        var expected: [ObjectIdentifier] = []
        for _ in 1...100 {
            let owner = Holder(Ending { ended.add(ObjectIdentifier(Thread.current)) })
            let token = center.observe(.sample, owner: owner.object!) { @ManualActor owner, note in
                isCancelled.add(Task.isCancelled)
                await Task.yield()
            }
            let address = token.registration?.address ?? 0
            let payload = Ending { ended.add(ObjectIdentifier(Thread.current)) }
            center.post(name: .sample, object: nil, userInfo: ["payload": consume payload])
            while AsyncRun.underWay(for: address) == nil { await Task.yield() }
            token.stop()
            owner.release()
            #expect(ended.entries.count == expected.count)
            while AsyncRun.underWay(for: address) != nil {
                if let thread = runNext() { expected += ended.entries.dropFirst(expected.count).map { _ in thread } }
                await Task.yield()
            }
        }
        #expect(isCancelled.entries == Array(repeating: true, count: 100))
        #expect(expected.count == 200 && ended.entries == expected)
    }

    /// Runs a job of the actor, if there is one; returns where.
    private func runNext() -> ObjectIdentifier? {
        guard ManualActor.executor.count > 0 else { return nil }
        ManualActor.executor.runNext()
        return ObjectIdentifier(Thread.current)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `P4 O9 a function that runs where it is called is one that is isolated to no actor`() async {
        let (center, names, called) = (ObserverCenter(), Log<String>(), AsyncGate())
        let owner = Holder(ending("owner"))
        // Their types, by which the compiler chooses the form.
        let plain: nonisolated(nonsending) @Sendable (Notification) async -> Void = { _ in
            names.add("plain")
            called.open()
        }
        let owned: nonisolated(nonsending) @Sendable (Ending, Notification) async -> Void = { _, _ in
            names.add("owned")
            called.open()
        }
        let message: nonisolated(nonsending) @Sendable (AlbumDidSave) async -> Void = { _ in
            names.add("message")
            called.open()
        }
        let ownedMessage: nonisolated(nonsending) @Sendable (Ending, AlbumDidSave) async -> Void = { _, _ in
            names.add("owned message")
            called.open()
        }
        let tokens = [
            center.observe(.sample, plain), center.observe(.sample, owner: owner.object!, owned),
            center.observe(for: .didSave, message), center.observe(for: .didSave, owner: owner.object!, ownedMessage),
        ]
        center.post(name: .sample, object: nil)
        center.post(AlbumDidSave(number: 1))
        for _ in tokens { await called.pass() }
        for token in tokens { await token.stopAndWait() }
        #expect(names.entries.sorted() == ["message", "owned", "owned message", "plain"])
        owner.release()
        #expect(log.entries.count == 1)
    }
}
