import Dispatch
import Foundation
import Testing

@testable import Tether

@Suite(.ownThread) struct CancelAndWaitTests {
    /// Only targets with a thread of their own, because other tests may occupy the shared threads.
    private static let targets: [@Sendable () -> DeliveryTarget] = [
        { .postingThread }, { .dispatchQueue(DispatchQueue(label: "serial")) },
    ]

    /// An observer whose handler returns some time after the cancellation began.
    private func slowObserver(
        of center: ObserverCenter, on target: DeliveryTarget, isRunning: Gate, log: Log<String>
    ) -> Box<NotificationObserver?> {
        let token = Box<NotificationObserver?>(nil)
        token.set(
            center.observe(.sample, on: target) { _ in
                isRunning.open()
                while token.value?.isActive == true { sched_yield() }
                for _ in 0..<100 { sched_yield() }
                log.add("returned")
            })
        return token
    }

    @Test(arguments: targets.indices)
    func `R2 cancelAndWait suspends until a handler on another thread has returned`(_ index: Int)
        async
    {
        let center = ObserverCenter()
        let log = Log<String>()
        let isRunning = Gate()
        let token = slowObserver(
            of: center, on: CancelAndWaitTests.targets[index](), isRunning: isRunning, log: log)
        await withCheckedContinuation { continuation in
            Thread { center.post(.sample, number: 1) }.start()
            Thread {
                isRunning.pass()
                continuation.resume()
            }.start()
        }
        await token.value?.cancelAndWait()
        log.add("stopped")
        #expect(log.entries == ["returned", "stopped"])
        token.set(nil)
    }

    @Test func `R2 cancelAndWait still waits when one of two handlers has returned`() {
        let (center, log) = (ObserverCenter(), Log<String>())
        let (isRunning, mayReturn) = (Gate(), [Gate(), Gate()])
        let token = center.observe(.sample) { notification in
            isRunning.open()
            mayReturn[notification.number].pass()
        }
        let address = token.registration?.address ?? .none
        let firstHasReturned = Gate()
        onThreads(
            {
                center.post(.sample, number: 0)
                firstHasReturned.open()
            },
            { center.post(.sample, number: 1) },
            {
                for _ in 0..<2 { isRunning.pass() }
                token.cancelAndWait()
                log.add("waited")
            },
            {
                while !HandlerWait.isAwaited(address) { sched_yield() }
                mayReturn[0].open()
                firstHasReturned.pass()
                log.add(HandlerWait.isAwaited(address) ? "waits" : "does not wait")
                mayReturn[1].open()
            })
        #expect(log.entries == ["waits", "waited"])
    }
}
