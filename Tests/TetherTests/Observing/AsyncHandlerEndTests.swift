import Foundation
import Testing
import Tether

/// The effect of an observer's end on a call of its async handler.
@Suite(.ownThread) struct AsyncHandlerEndTests {
    private let log = Log<String>()

    enum End: CaseIterable { case stop, replacement, center }

    @Test(arguments: End.allCases)
    func `P4 R2 a call under way is cancelled when its observer ends, and waited for`(end: End)
        async
    {
        let (log, begun, gate) = (log, AsyncGate(), AsyncGate())
        let center = Holder(ObserverCenter())
        let token = center.object!.observe(.sample, key: "key") { note in
            log.add("call \(note.number) \(Task.isCancelled)")
            begun.open()
            await gate.pass()
            log.add("\(Task.isCancelled)")
        }
        center.object!.post(.sample, numbers: 1...3)
        await begun.pass()
        var other: NotificationObserver?
        switch end {
        case .stop: token.cancel()
        case .replacement: other = center.object!.observe(.other, key: "key") { _ in }
        case .center: center.release()
        }
        #expect(!token.isActive)
        gate.open()
        await token.cancelAndWait()
        #expect(log.entries == ["call 1 false", "true"])
        withExtendedLifetime(other) {}
    }

    @Test func `P4 R7 a call that ended its observer is not cancelled`() async {
        let (center, log, returns, gate) = (ObserverCenter(), log, AsyncGate(), AsyncGate())
        let once = center.observe(.sample, once: true) { note in
            await Task.yield()
            log.add("once \(note.number) \(Task.isCancelled)")
            returns.open()
        }
        let token = Box<NotificationObserver?>()
        token.set(
            center.observe(.sample) { note in
                await token.value?.cancelAndWait()
                log.add("stopped \(note.number) \(Task.isCancelled)")
                gate.open()
            })
        center.post(.sample, numbers: 1...3)
        await gate.pass()
        // Before its return, a cancellation cancels the call.
        await returns.pass()
        await once.cancelAndWait()
        await token.value?.cancelAndWait()
        #expect(log.entries.sorted() == ["once 1 false", "stopped 1 false"])
        #expect(center.audit().isEmpty)
        token.drop()
    }

    @Test func `P4 M5 the calls that a sender leaves are made, and not cancelled`() async {
        let (center, log, begun, gate) = (ObserverCenter(), log, AsyncGate(), AsyncGate())
        // Its notifications do not retain the sender, which posts while it is deinitialised (X3).
        let sender = Holder(
            LoggedObject("sender", Log()) { sender in
                for number in 1...2 {
                    center.post(name: .sample, object: sender, userInfo: ["number": number])
                }
            })
        let token = center.observe(.sample, from: sender.object!) { note in
            begun.open()
            await gate.pass()
            log.add("call \(note.number) \(Task.isCancelled)")
        }
        sender.release()
        await begun.pass()
        #expect(token.isActive)
        gate.open()
        await begun.pass()
        gate.open()
        #expect(await log.hasLogged(2))
        await token.cancelAndWait()
        #expect(log.entries == ["call 1 false", "call 2 false"])
        #expect(center.audit().isEmpty)
    }
}
