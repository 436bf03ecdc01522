import Foundation
import Testing

@testable import Tether

/// The isolation of the release of an async handler's arguments.
@Suite(.serialized) struct AsyncHandlerIsolationTests {
    /// The deallocated objects, and whether each was deallocated on the main actor.
    private struct End: Hashable {
        let name: String
        let isOnMain: Bool
    }

    private let log = Log<End>()

    /// An object that logs the isolation of its `deinit`.
    private func ending(_ name: String) -> Ending {
        Ending { [log] in log.add(End(name: name, isOnMain: MainQueue.isCurrent)) }
    }

    private func ends(_ name: String, _ count: Int) -> [End] {
        Array(repeating: End(name: name, isOnMain: true), count: count)
    }

    /// Releases the last other references to a handler's arguments while the handler awaits.
    /// Returns the isolation of the deallocations.
    private func ends(
        rounds: Int,
        _ observe: (Ending, _ begun: AsyncGate, _ gate: AsyncGate) -> NotificationObserver,
        post: (Ending) -> Void
    ) async -> [End] {
        for _ in 1...rounds {
            let (owner, begun, gate) = (Holder(ending("owner")), AsyncGate(), AsyncGate())
            let token = observe(owner.object!, begun, gate)
            post(ending("payload"))
            await begun.pass()
            owner.release()
            gate.open()
            await token.cancelAndWait()
        }
        return log.entries.sorted { $0.name < $1.name }
    }

    @Test(arguments: CenterKind.allCases)
    func `O9 F1 P4 a main-actor handler releases its owner and its notification there`(
        kind: CenterKind
    ) async {
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

    /// An actor whose jobs a test runs, one test after the other.
    @globalActor private actor ManualActor {
        static let shared = ManualActor()
        static let executor = ManualExecutor()

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe ManualActor.executor.asUnownedSerialExecutor()
        }
    }

    /// The causes of an observer's end.
    private enum Cause: CaseIterable {
        case stop, cancelAndWait, removal, owner

        func end(
            _ token: NotificationObserver, of owner: Holder<LoggedObject>,
            on center: any PostingCenter
        ) {
            switch self {
            case .stop: token.cancel()
            case .cancelAndWait: token.cancelAndWait()
            case .removal: center.removeObservers(owner: owner.object!)
            case .owner: owner.release()
            }
        }
    }

    @Test(arguments: Cause.allCases, CenterKind.allCases)
    private func `R1 R2 P4 the end of an observer drops a call that has not reached its actor`(
        cause: Cause, kind: CenterKind
    ) async {
        for isOnce in [false, true] {
            let (log, center, executor) = (Log<String>(), kind.makeCenter(), ManualActor.executor)
            let owner = Holder(LoggedObject("owner", log))
            let token = center.observe(.sample, owner: owner.object!, once: isOnce) {
                @ManualActor _, _ async in
                log.add("called")
            }
            let payload = LoggedObject("payload", log)
            center.post(name: .sample, object: nil, userInfo: ["payload": consume payload])
            while executor.count == 0 { await Task.yield() }
            cause.end(token, of: owner, on: center)
            #expect(log.entries.contains("payload deinit") && !token.isActive)
            owner.release()
            #expect(log.entries.sorted() == ["owner deinit", "payload deinit"])
            executor.runNext()
            await token.cancelAndWait()
            #expect(log.entries.sorted() == ["owner deinit", "payload deinit"])
        }
    }

    @Test func `D8 P4 notifications that wait for an actor are pending, bounded by a backlog`()
        async
    {
        let (log, center, executor) = (Log<Int>(), ObserverCenter(), ManualActor.executor)
        let token = center.observe(.sample) { @ManualActor note async in log.add(note.number) }
        token.backlog = .newest(1)
        center.post(.sample, numbers: 1...3)
        while log.entries.isEmpty {
            if executor.count > 0 { executor.runNext() }
            await Task.yield()
        }
        #expect(log.entries == [3])
        token.cancel()
    }
}
