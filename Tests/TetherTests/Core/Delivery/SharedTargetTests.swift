import Dispatch
import Foundation
import Testing

@testable import Tether

/// Several observers on one target, which is a thread's run loop, so that nobody else delivers there.
@Suite(.ownThread) struct SharedTargetTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    private func observe(_ name: Notification.Name, on target: DeliveryTarget) -> NotificationObserver {
        center.observe(name, on: target) { [log] in log.add($0.name.rawValue) }
    }

    @Test func `D3 D5 what a thread posts to itself waits behind nothing that is pending for another observer`() {
        let thread = RunLoopThread(name: "shared")
        let done = Latch()
        let tokens = [
            center.observe(.sample, on: .thread(thread)) { [center, log] _ in
                onThreads({ center.post(name: .other, object: nil) })
                center.post(name: .third, object: nil)
                log.add("sample")
            },
            observe(.other, on: .thread(thread)),
            observe(.third, on: .thread(thread)),
            center.observe(.other, on: .thread(thread)) { _ in done.open() },
        ]
        thread.start()
        center.post(name: .sample, object: nil)
        done.wait()
        #expect(log.entries == ["third", "sample", "other"])
        thread.cancel()
        withExtendedLifetime(tokens) {}
    }

    @Test func `D3 D6 what has left a thread with its observer is not waited for there`() {
        let done = Latch()
        let thread = RunLoopThread(name: "left") { [center, log] in
            center.post(name: .other, object: nil)
            log.add("posted")
            done.open()
        }
        let queue = DispatchQueue(label: "SharedTargetTests")
        let leaving = observe(.sample, on: .thread(thread))
        let staying = observe(.other, on: .thread(thread))
        center.post(name: .sample, object: nil)
        leaving.target = .dispatchQueue(queue)
        queue.sync {}
        thread.start()
        done.wait()
        #expect(log.entries == ["sample", "other", "posted"])
        thread.cancel()
        withExtendedLifetime((leaving, staying)) {}
    }
}
