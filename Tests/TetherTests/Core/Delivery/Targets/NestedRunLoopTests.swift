import CoreFoundation
import Foundation
import Testing
import Tether

/// A run loop that runs again in a callout.
@Suite(.ownThread) struct NestedRunLoopTests {
    private let center = ObserverCenter()
    private let thread = RunLoopThread(name: "worker")

    /// Whether the thread ends in time.
    private func ends() -> Bool {
        let limit = ContinuousClock.now + .seconds(longestWait)
        while !thread.isFinished, .now < limit { sched_yield() }
        return thread.isFinished
    }

    @Test func `D5 posts to a target wait until its handler, which runs the loop, has returned`() {
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
        let other = center.observe(.other, on: .thread(thread, modes: [.default])) { _ in
            log.add("another target")
        }
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

    @Test func `D4 D5 posts in a handler's run of the loop follow its post at each observer`() {
        let (isNested, isDone, log) = (Gate(), Gate(), Log<String>())
        let first = center.observe(.sample, on: .thread(thread)) { note in
            log.add("first \(note.number)")
            guard note.number == 1 else { return }
            isNested.open()
            RunLoop.current.run(.default) { log.entries.contains("second 3") }
        }
        let second = center.observe(.sample, on: .thread(thread)) { note in
            log.add("second \(note.number)")
            if note.number == 3 { isDone.open() }
        }
        thread.start()
        center.post(.sample, number: 1)
        isNested.pass()
        center.post(.sample, numbers: 2...3)
        isDone.pass()
        thread.cancel()
        #expect(ends())
        #expect(
            log.entries.filter { $0.hasPrefix("second") } == ["second 1", "second 2", "second 3"])
        withExtendedLifetime((first, second)) {}
    }

    @Test func `D5 a post is delivered after a handler that runs the loop in another mode`() {
        let (isNested, isDone) = (Gate(), Gate())
        let mode = RunLoop.Mode("private")
        let token = center.observe(.sample, on: .thread(thread)) { note in
            if note.number == 3 { isDone.open() }
            guard note.number == 2 else { return }
            isNested.open()
            // Long enough for the post, because this run consumes the post's wake-up.
            mode.run(for: 0.2)
        }
        let other = center.observe(.other, on: .thread(thread, modes: [mode])) { _ in }
        center.post(.sample, numbers: 1...2)
        thread.start()
        isNested.pass()
        center.post(.sample, number: 3)
        isDone.pass()
        thread.cancel()
        withExtendedLifetime((token, other)) {}
    }

    @Test func `D5 a thread cancelled while a handler runs its loop ends after the handler`() {
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
}
