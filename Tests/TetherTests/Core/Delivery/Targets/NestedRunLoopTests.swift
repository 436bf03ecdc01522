import CoreFoundation
import Foundation
import Testing
import Tether

/// A run loop that is run again in one of its own callouts.
@Suite(.ownThread) struct NestedRunLoopTests {
    private let center = ObserverCenter()
    private let thread = RunLoopThread(name: "worker")

    /// Whether the thread ends in time.
    private func ends() -> Bool {
        let limit = ContinuousClock.now + .seconds(20)
        while !thread.isFinished, .now < limit { sched_yield() }
        return thread.isFinished
    }

    @Test func `D5 while a handler runs its run loop, what others post to that target waits until it returns`() {
        let (isNested, isDone, log) = (Gate(), Gate(), Log<String>())
        let token = center.observe(.sample, on: .thread(thread)) { note in
            log.add("begins \(note.number)")
            if note.number == 1 {
                isNested.open()
                RunLoop.current.run(.default) { log.entries.contains("another target") }
            }
            log.add("ends \(note.number)")
            if note.number == 2 { isDone.open() }
        }
        let other = center.observe(.other, on: .thread(thread, modes: [.default])) { _ in log.add("another target") }
        thread.start()
        center.post(.sample, number: 1)
        isNested.pass()
        center.post(.sample, number: 2)
        center.post(.other, number: 3)
        isDone.pass()
        #expect(log.entries == ["begins 1", "another target", "ends 1", "begins 2", "ends 2"])
        thread.cancel()
        withExtendedLifetime((token, other)) {}
    }

    @Test func `D5 a thread that is cancelled elsewhere while a handler runs its run loop ends after the handler`() {
        let isNested = Gate()
        let token = center.observe(.sample, on: .thread(thread)) { _ in
            RunLoop.current.perform { isNested.open() }
            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
        }
        thread.start()
        center.post(.sample, number: 1)
        isNested.pass()
        thread.cancel()
        #expect(ends())
        withExtendedLifetime(token) {}
    }

    @Test func `D5 a run loop that goes on in a handler of a cancelled thread sleeps, and the thread ends after it`() {
        let passes = Log<Int>()
        // SAFETY: a thread may be cancelled from any thread.
        nonisolated(unsafe) let worker = thread
        let token = center.observe(.sample, on: .thread(thread)) { _ in
            unsafe worker.cancel()
            let isDone = Flag()
            let timer = Timer(fire: Date(timeIntervalSinceNow: 0.05), interval: 0, repeats: false) { _ in
                isDone.raise()
                CFRunLoopStop(CFRunLoopGetCurrent())
            }
            RunLoop.current.add(timer, forMode: .default)
            while !isDone.isRaised {
                _ = RunLoop.current.run(mode: .default, before: .distantFuture)
                passes.add(1)
            }
        }
        thread.start()
        center.post(.sample, number: 1)
        #expect(ends())
        // One that the cancellation ends, and one that the timer does.
        #expect((1...2).contains(passes.entries.count))
        withExtendedLifetime(token) {}
    }

    @Test func `D5 Q1 what is posted while an observer runs the loop in another mode comes with the next pass`() {
        let (center, log) = (center, Log<String>())
        Crew {
            DeliveryTarget.prepareCurrentThread()
            let queue = PostingQueue(center: center)
            let tokens = [
                center.observe(.sample, on: .currentThread) { _ in log.add("by the thread") },
                center.observe(.other) { _ in log.add("by the queue") },
            ]
            let observer: CFRunLoopObserver = CFRunLoopObserverCreateWithHandler(
                nil, CFRunLoopActivity.beforeWaiting.rawValue, false, 0
            ) { _, _ in
                let other = RunLoop.Mode("Tether.Other")
                // Keeps the run from ending at once.
                let timer = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
                RunLoop.current.add(timer, forMode: other)
                queue.enqueue(Notification(name: .other), postingStyle: .asap)
                Crew { center.post(.sample, number: 1) }.join()
                other.run(for: 0.01)
                timer.invalidate()
                log.add("observer")
            }
            CFRunLoopAddObserver(CFRunLoopGetCurrent(), observer, RunLoop.Mode.default.cfMode)
            RunLoop.Mode.default.run(for: 0.05)
            RunLoop.Mode.default.run(for: 0)
            withExtendedLifetime(tokens) {}
        }.join()
        #expect(log.entries.first == "observer")
        #expect(log.entries.dropFirst().sorted() == ["by the queue", "by the thread"])
    }
}
