import CAllocations
import Foundation
import Testing

@testable import Tether

/// Handlers that end the thread on which they run.
// What a delivery has at hand is lost with the thread's stack, which LeakSanitizer would find.
@Suite(.ownThread, .enabled(if: counts_allocations())) struct ThreadExitTests {
    private let center = ObserverCenter()
    private let log = Log<Int>()
    private let isRunning = Gate()
    private let mayExit = Gate()
    private let hasExited = Gate()

    /// A thread that runs its run loop when it may, as a target, and opens a gate after all else that ends with it.
    private func target(mayRun: Gate) -> DeliveryTarget {
        let (target, isPrepared) = (Log<DeliveryTarget>(), Gate())
        Thread { [hasExited] in
            PostingThread.current.atExit { hasExited.open() }
            target.add(.currentThread)
            isPrepared.open()
            mayRun.pass()
            RunLoop.current.run()
        }.start()
        isPrepared.pass()
        return target.entries[0]
    }

    private var counts: [[Int]] { center.audit().map { [$0.pending, $0.dropped] } }

    /// What the first delivery does to its thread.
    private func handler(
        before exit: @escaping @Sendable () -> Void = {}
    ) -> @Sendable (Notification) -> Void {
        { [log, isRunning, mayExit] notification in
            log.add(notification.number)
            guard notification.number == 1 else { return }
            isRunning.open()
            mayExit.pass()
            exit()
            Thread.exit()
        }
    }

    /// Calls a body on a thread of its own, which the handler ends, and returns after all that ends with it.
    private func exitIn(_ body: @escaping @Sendable () -> Void) {
        Thread { [hasExited] in
            PostingThread.current.atExit { hasExited.open() }
            body()
        }.start()
        letExit()
    }

    /// Lets the handler that runs, or is about to, end its thread, and returns after all that ends with it.
    private func letExit() {
        isRunning.pass()
        mayExit.open()
        hasExited.pass()
    }

    @Test func `D5 what is pending on a thread that a handler ends, and what comes later, is dropped and counted`() {
        let mayRun = Gate()
        let target = target(mayRun: mayRun)
        let token = center.observe(.sample, on: target, handler())
        let other = center.observe(.sample, on: target) { [log] in log.add(100 + $0.number) }
        center.post(.sample, numbers: 1...2)
        mayRun.open()
        isRunning.pass()
        center.post(.sample, number: 3)
        mayExit.open()
        hasExited.pass()
        #expect(log.entries == [1])
        #expect(counts == [[0, 2], [0, 3]])
        center.post(.sample, numbers: 4...5)
        #expect(counts == [[0, 4], [0, 5]])
        token.target = .poster
        center.post(.sample, number: 6)
        #expect(log.entries == [1, 6])
        #expect(counts == [[0, 4], [0, 6]])
        withExtendedLifetime((token, other)) {}
    }

    @Test func `D6 a switch that waits for a drain is made when a handler in it ends the thread`() {
        let mayRun = Gate()
        let tokens = Log<NotificationObserver>()
        tokens.add(
            center.observe(.sample, on: target(mayRun: mayRun), handler { tokens.entries[0].target = .poster }))
        center.post(.sample, number: 1)
        mayRun.open()
        letExit()
        center.post(.sample, number: 2)
        #expect(log.entries == [1, 2])
        #expect(counts == [[0, 0]])
    }

    @Test func `R7 a once observer has ended when its handler has ended the thread`() {
        let mayRun = Gate()
        let token = center.observe(.sample, on: target(mayRun: mayRun), once: true, handler())
        center.post(.sample, number: 1)
        mayRun.open()
        letExit()
        #expect(!token.isActive)
        #expect(counts == [])
    }

    @Test func `R7 a once observer has ended when its handler has ended the posting thread`() {
        let token = center.observe(.sample, once: true, handler())
        exitIn { [center] in center.post(.sample, number: 1) }
        #expect(!token.isActive)
        #expect(counts == [])
    }

    @Test func `M5 an observer has ended when its handler has ended the thread after its sender went`() {
        let mayRun = Gate()
        var sender: Farewell? = Farewell(center)
        let token = center.observe(.sample, from: sender!, on: target(mayRun: mayRun), handler())
        sender = nil
        #expect(counts == [[1, 0]])
        mayRun.open()
        letExit()
        #expect(counts == [])
        withExtendedLifetime(token) {}
    }

    @Test func `D6 what waits on the poster is delivered by the next post after a handler ended the posting thread`() {
        let token = center.observe(.sample, on: .custom(HeldJobs()), handler())
        center.post(.sample, numbers: 1...2)
        token.target = .poster
        exitIn { [center] in center.post(.sample, number: 3) }
        #expect(log.entries == [1])
        center.post(.sample, number: 4)
        #expect(log.entries == [1, 2, 3, 4])
        withExtendedLifetime(token) {}
    }

    @Test
    func `D9 what an unmuting would have delivered behind a handler that ends the thread is left to the next post`() {
        let (owner, handler) = (Log<Int>(), handler())
        center.observe(.sample, owner: owner) { _, note in handler(note) }
        center.observe(.sample, owner: owner) { owner, note in owner.add(note.number) }
        center.observe(.sample, owner: owner, on: .custom(HeldJobs())) { owner, note in owner.add(200 + note.number) }
        let once = center.observe(.sample, owner: owner, once: true) { owner, note in owner.add(100 + note.number) }
        OwnerObservers(of: owner).mute(keepingNewest: true)
        center.post(.sample, number: 1)
        exitIn { OwnerObservers(of: owner).unmute() }
        #expect(log.entries == [1] && owner.entries == [])
        // Claimed for the delivery that was not made.
        #expect(!once.isActive)
        #expect(counts == [[0, 0], [1, 0], [1, 0]])
        center.post(.sample, number: 2)
        #expect(log.entries == [1, 2] && owner.entries == [1, 2])
    }

    @Test func `D9 D5 what an unmuting would have delivered to the thread that a handler ends is dropped and counted`()
    {
        let (owner, handler, target, mayUnmute) = (Log<Int>(), handler(), Log<DeliveryTarget>(), Gate())
        Thread { [isRunning, hasExited] in
            PostingThread.current.atExit { hasExited.open() }
            target.add(.currentThread)
            isRunning.open()
            mayUnmute.pass()
            OwnerObservers(of: owner).unmute()
        }.start()
        isRunning.pass()
        center.observe(.sample, owner: owner) { _, note in handler(note) }
        center.observe(.sample, owner: owner, on: target.entries[0]) { owner, note in owner.add(note.number) }
        OwnerObservers(of: owner).mute(keepingNewest: true)
        center.post(.sample, number: 1)
        mayUnmute.open()
        mayExit.open()
        hasExited.pass()
        #expect(log.entries == [1] && owner.entries == [])
        #expect(counts == [[0, 0], [0, 1]])
    }
}

/// Posts when it ends.
private final class Farewell: Sendable {
    private let center: ObserverCenter

    init(_ center: ObserverCenter) {
        self.center = center
    }

    deinit { center.post(Notification(name: .sample, object: self, userInfo: ["number": 1])) }
}
