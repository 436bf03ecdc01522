import Foundation
import Testing
import Tether

/// The end of run loops that are targets.
@Suite(.ownThread) struct RunLoopEndTests {
    private let center = ObserverCenter()
    private let log = Log<Int>()

    /// Runs a body and then the run loop, on a new thread; opens the gate when the run loop has
    /// ended.
    private func runLoop(_ body: @escaping @Sendable () -> Void) -> Gate {
        let (isPrepared, hasEnded) = (Gate(), Gate())
        Thread.detachNewThread {
            body()
            isPrepared.open()
            RunLoop.current.run()
            hasEnded.open()
        }
        isPrepared.pass()
        return hasEnded
    }

    @Test func `D5 a run loop ends when its last observer is cancelled on another thread`() {
        let (tokens, delivered) = (Box<[NotificationObserver]>([]), Gate())
        let hasEnded = runLoop { [center, log] in
            tokens.set(
                (0..<2).map { observer in
                    center.observe(.sample, on: .currentThread) { notification in
                        log.add(observer * 10 + notification.number)
                        if observer == 1 { delivered.open() }
                    }
                })
        }
        center.post(.sample, number: 1)
        delivered.pass()
        tokens.value[1].cancel()
        tokens.value[0].cancel()
        hasEnded.pass()
        #expect(log.entries == [1, 11])
    }

    // MARK: A thread that is cancelled

    @Test func `D5 a thread cancelled in a handler drops pending deliveries, not later posts`() {
        let thread = RunLoopThread(name: "worker")
        let (center, log) = (center, log)
        // SAFETY: a thread may be cancelled from any thread.
        nonisolated(unsafe) let worker = thread
        let token = center.observe(.sample, on: .thread(thread)) { notification in
            log.add(notification.number)
            guard notification.number == 1 else { return }
            center.post(.sample, number: 3)
            unsafe worker.cancel()
            center.post(.sample, number: 4)
        }
        center.post(.sample, numbers: 1...2)
        thread.start()
        while !thread.isFinished { sched_yield() }
        #expect(log.entries == [1, 4])
        #expect(center.audit().map { [$0.pending, $0.dropped] } == [[0, 2]])
        withExtendedLifetime(token) {}
    }

    @Test func `D5 posts to a cancelled thread are dropped at once, while its handler still runs`()
    {
        let thread = RunLoopThread(name: "worker")
        let (isRunning, mayGoOn) = (Gate(), Gate())
        let (center, log) = (center, log)
        let token = center.observe(.sample, on: .thread(thread)) { notification in
            log.add(notification.number)
            isRunning.open()
            mayGoOn.pass()
        }
        let other = center.observe(.other, on: .thread(thread, modes: [.default])) {
            log.add($0.number)
        }
        thread.start()
        center.post(.sample, number: 1)
        isRunning.pass()
        center.post(.other, numbers: 2...3)
        thread.cancel()
        #expect(center.audit().map { [$0.pending, $0.dropped] } == [[0, 0], [0, 2]])
        center.post(.other, number: 4)
        #expect(center.audit().map { [$0.pending, $0.dropped] } == [[0, 0], [0, 3]])
        mayGoOn.open()
        while !thread.isFinished { sched_yield() }
        #expect(log.entries == [1])
        withExtendedLifetime((token, other)) {}
    }
}
