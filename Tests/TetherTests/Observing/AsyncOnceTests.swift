import Foundation
import Testing
import Tether

/// A `once` observer with an async handler, until its call has returned.
@Suite struct AsyncOnceTests {
    private let center = ObserverCenter()

    private enum Cause: CaseIterable { case cancel, cancelAll, removal, key }

    @Test(arguments: Cause.allCases)
    private func `R7 P4 the end of a once observer cancels its async call`(cause: Cause) async {
        let (center, begun, ended) = (center, AsyncGate(), AsyncGate())
        let cancelled = Flag()
        let endless = AsyncStream<Void>.makeStream()
        var owner: NSObject? = NSObject()
        var token: NotificationObserver? = center.observe(
            .sample, owner: owner!, once: true, key: "key"
        ) { _, _ in
            begun.open()
            // Ends when the task is cancelled.
            for await _ in endless.stream {}
            if Task.isCancelled { cancelled.raise() }
            ended.open()
        }
        center.post(.sample, number: 1)
        await begun.pass()
        #expect(token?.isActive == true && center.audit().count == 1)
        switch cause {
        case .cancel: token?.cancel()
        case .cancelAll: owner.map { OwnerObservers(of: $0).cancel() }
        case .removal: center.removeObservers(named: .sample)
        case .key:
            center.observe(.sample, owner: owner!, key: "key") { _, _ in }
        }
        await ended.pass()
        #expect(cancelled.isRaised)
        endless.continuation.finish()
        token = nil
        owner = nil
    }

    @Test func `R7 P4 a once observer with an async handler ends when its call has returned`() async
    {
        let (center, log, goOn, begun) = (center, Log<Int>(), AsyncGate(), AsyncGate())
        let token = center.observe(.sample, once: true) { note in
            begun.open()
            await goOn.pass()
            #expect(!Task.isCancelled)
            log.add(note.number)
        }
        center.post(.sample, numbers: 1...3)
        await begun.pass()
        #expect(center.audit().count == 1)
        goOn.open()
        #expect(await token.finish() == .finished)
        #expect(log.entries == [1])
        #expect(center.audit().isEmpty)
    }
}
