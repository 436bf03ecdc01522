import Dispatch
import Foundation
import Testing

@testable import Tether

@Suite(.ownThread) struct WaitingCycleTests {
    private typealias Result = NotificationObserver.WaitResult

    private func count(_ results: Log<Result>) -> [Int] {
        [Result.finished, .wouldDeadlock].map { wanted in results.entries.count { $0 == wanted } }
    }

    /// Runs several handlers on threads of their own. Once all run, each handler waits for the
    /// next.
    private func waitInRing(of size: Int, on target: (Int) -> DeliveryTarget) -> Log<Result> {
        let center = ObserverCenter()
        let results = Log<Result>()
        let meeting = Meeting(of: size)
        let hasReturned = Gate()
        let tokens = Box<[NotificationObserver]>([])
        tokens.set(
            (0..<size).map { index in
                center.observe(Notification.Name("\(index)"), on: target(index)) { _ in
                    meeting.meet()
                    results.add(tokens.value[(index + 1) % size].cancelAndWait())
                    hasReturned.open()
                }
            })
        onThreads(
            (0..<size).map { index in { center.post(Notification.Name("\(index)"), number: 1) } })
        for _ in 0..<size { hasReturned.pass() }
        tokens.set([])
        return results
    }

    @Test func `R2 of two handlers that wait for each other the later call says so at once`() {
        #expect(count(waitInRing(of: 2) { _ in .postingThread }) == [1, 1])
    }

    @Test func `R2 of three handlers that wait in a ring the last call says so at once`() {
        #expect(count(waitInRing(of: 3) { _ in .postingThread }) == [2, 1])
    }

    @Test func `R2 a wait for a handler that waits for the caller's is refused before it blocks`()
        async throws
    {
        let (center, addresses, results) = (
            ObserverCenter(), Box<[RegistrationAddress]>([]), Log<Bool>()
        )
        let (isRunning, isWaiting, mayReturn, isDone) = (
            AsyncGate(), AsyncGate(), AsyncGate(), AsyncGate()
        )
        let one = center.observe(.sample) { _ in
            await isRunning.pass()
            results.add(HandlerWait.whenReturned(addresses.value[1]) { isDone.open() })
            isWaiting.open()
            await mayReturn.pass()
        }
        let two = center.observe(.other) { _ in
            isRunning.open()
            await isWaiting.pass()
            results.add(HandlerWait.whenReturned(addresses.value[0]) {})
            mayReturn.open()
        }
        addresses.set(try [one, two].map { try #require($0.registration).address })
        center.post(.sample, number: 1)
        center.post(.other, number: 2)
        await isDone.pass()
        #expect(results.entries == [true, false])
        _ = await (one.cancelAndWait(), two.cancelAndWait())
    }

    /// The release of an async handler's captures is part of the call.
    @Test func `R2 R8 a deinit that waits in a ring of async handlers is refused`()
        async
    {
        let (center, results, ended) = (ObserverCenter(), Log<Result>(), AsyncGate())
        let (begun, mayReturn, other) = (Latch(), AsyncGate(), Box<NotificationObserver?>(nil))
        let token = observe(
            .sample, of: center, begun, mayReturn,
            capturing: Ending {
                results.add(other.value?.cancelAndWait() ?? .finished)
            })
        other.set(
            center.observe(.other) { _ in
                results.add(token.cancelAndWait())
                ended.open()
            })
        let address = token.registration?.address ?? .none
        center.post(.sample)
        Thread.detachNewThread {
            begun.pass()
            center.post(.other)
        }
        while !HandlerWait.isAwaited(address) { await Task.yield() }
        mayReturn.open()
        await ended.pass()
        #expect(results.entries == [.wouldDeadlock, .finished])
    }

    private func observe(
        _ name: Notification.Name, of center: ObserverCenter, _ begun: Latch,
        _ mayReturn: AsyncGate, capturing captured: Ending
    ) -> NotificationObserver {
        center.observe(name) { _ in
            captured.touch()
            begun.open()
            await mayReturn.pass()
        }
    }

    @Test func `R2 handlers of one observer that wait for each other on three threads are found`() {
        // The first handler waits for the two others, and each of the two would wait for the first.
        #expect(count(waitForItself(onThreads: 3)) == [1, 2])
    }

    private func waitForItself(onThreads threads: Int) -> Log<Result> {
        let center = ObserverCenter()
        let results = Log<Result>()
        let meeting = Meeting(of: threads)
        let token = Box<NotificationObserver?>(nil)
        token.set(
            center.observe(.sample) { _ in
                meeting.meet()
                if let result = token.value?.cancelAndWait() { results.add(result) }
            })
        onThreads((0..<threads).map { number in { center.post(.sample, number: number) } })
        token.set(nil)
        return results
    }

    @Test func `R2 a chain of waits without a ring is waited for to its end`() {
        let center = ObserverCenter()
        let results = Log<Result>()
        let order = Log<Int>()
        let meeting = Meeting(of: 3)
        let tokens = Box<[NotificationObserver]>([])
        tokens.set(
            (0..<3).map { index in
                center.observe(Notification.Name("\(index)")) { _ in
                    meeting.meet()
                    if index < 2 {
                        results.add(tokens.value[index + 1].cancelAndWait())
                    } else {
                        while tokens.value[2].isActive { sched_yield() }
                    }
                    order.add(index)
                }
            })
        onThreads(
            (0..<3).map { index in { center.post(Notification.Name("\(index)"), number: 1) } })
        #expect(count(results) == [2, 0])
        #expect(order.entries == [2, 1, 0])
        tokens.set([])
    }

    @Test func `R2 two waits that meet in a thread are no ring`() {
        let center = ObserverCenter()
        let results = Log<Result>()
        let (meeting, mayReturn) = (Meeting(of: 3), Gate())
        let tokens = Box<[NotificationObserver]>([])
        tokens.set([
            center.observe(.sample) { notification in
                meeting.meet()
                results.add(tokens.value[notification.number].cancelAndWait())
            },
            center.observe(Notification.Name("outer")) { [weak center] _ in
                center?.post(Notification.Name("inner"), number: 1)
            },
            center.observe(Notification.Name("inner")) { _ in
                meeting.meet()
                mayReturn.pass()
            },
        ])
        let registrations = tokens.value.compactMap(\.registration)
        onThreads(
            { center.post(.sample, number: 1) }, { center.post(.sample, number: 2) },
            { center.post(Notification.Name("outer"), number: 1) },
            {
                // The first observer's two handlers wait for two handlers of another thread.
                for registration in registrations.dropFirst() { waitUntilWaitedFor(registration) }
                results.add(tokens.value[0].cancelAndWait())
            },
            {
                waitUntilWaitedFor(registrations[0])
                mayReturn.open()
            })
        #expect(count(results) == [3, 0])
        tokens.set([])
    }
}

/// Returns when someone waits for a registration's handlers.
private func waitUntilWaitedFor(_ registration: Registration) {
    while !HandlerWait.isAwaited(registration.address) { sched_yield() }
}
