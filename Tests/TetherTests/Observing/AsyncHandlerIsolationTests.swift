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

    @MainActor @Test func `O9 P4 so does one whose observer ends before the call has got to the main actor`() async {
        let center = ObserverCenter()
        let isCancelled = Log<Bool>()
        for _ in 1...100 {
            let owner = Holder(ending("owner"))
            let token = center.observe(.sample, owner: owner.object!) { @MainActor owner, note in
                isCancelled.add(Task.isCancelled)
                await Task.yield()
            }
            let address = token.registration?.address ?? 0
            center.post(name: .sample, object: nil, userInfo: ["payload": ending("payload")])
            // The main actor is kept meanwhile.
            while AsyncRun.underWay(for: address) == nil { sched_yield() }
            token.stop()
            owner.release()
            #expect(log.entries.count % 2 == 0)
            await token.stopAndWait()
        }
        #expect(isCancelled.entries == Array(repeating: true, count: 100))
        #expect(log.entries.sorted { $0.name < $1.name } == ends("owner", 100) + ends("payload", 100))
    }
}
