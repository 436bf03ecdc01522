import Foundation
import Synchronization
import Testing
import XCTest

@testable import Tether

/// Queues and their threads.
final class PostingQueueThreadTests: XCTestCase {
    /// Q2: each thread has a queue, by all names of the queue; the main queue has the main
    /// thread's.
    func testQ2EachThreadHasOneQueue() {
        let main = PostingQueue.current
        XCTAssertTrue(main === PostingQueue.current)
        XCTAssertTrue(main === PostingQueue.default)
        XCTAssertTrue(main === MainActor.assumeIsolated { PostingQueue.main })
        let done = Gate()
        Thread.detachNewThread {
            XCTAssertTrue(PostingQueue.current === PostingQueue.default)
            XCTAssertFalse(PostingQueue.current === main)
            done.open()
        }
        done.pass()
        let log = Log<Bool>()
        DispatchQueue.main.async { log.add(PostingQueue.current === main) }
        RunLoop.current.run(.default, until: { !log.entries.isEmpty })
        XCTAssertEqual(log.entries, [true])
    }

    /// Q5 Q2: the queue of an exited thread posts `.now` in any mode of a later thread, which may
    /// have the same thread record.
    func testQ5ANowPostOfAnExitedThreadsQueueIsMadeOnALaterThread() throws {
        let center = ObserverCenter()
        let log = Log<String>()
        let token = center.observe(.sample) { log.add($0.label) }
        let made = Box<PostingQueue?>(nil)
        let record = Box<ThreadRecord?>(nil)
        JoinableThread {
            made.set(PostingQueue(notificationCenter: center))
            record.set(.current)
        }.join()
        let queue = try XCTUnwrap(made.value)
        while center.audit().droppedPosts == 0 {
            queue.enqueue(.labelled("0"), postingStyle: .asap)
        }
        let hasSameRecord = Box(false)
        while !hasSameRecord.value {
            JoinableThread {
                guard ThreadRecord.current === record.value else { return }
                hasSameRecord.set(true)
                let mode = RunLoop.Mode("other")
                RunLoop.current.perform(inModes: [mode]) {
                    queue.enqueue(.labelled("1"), postingStyle: .now)
                }
                RunLoop.current.run(mode, until: { !log.entries.isEmpty })
            }.join()
        }
        XCTAssertEqual(log.entries, ["1"])
        token.cancel()
    }

    /// Q2: a thread's exit ends its queue. Waiting notifications are released and counted, and not
    /// posted elsewhere.
    func testQ2AnExitingThreadFreesItsQueueAndCountsWhatWaited() {
        let center = ObserverCenter()
        let log = Log<String>()
        let token = center.observe(.sample) { log.add($0.label) }
        let (isGone, isCurrentGone) = (Gate(), Gate())
        let queues = Log<WeakQueue>()
        let before = ObserverCenter.default.audit().droppedPosts
        let mayExit = Gate()
        let isFilled = Gate()
        Thread.detachNewThread {
            let queue = PostingQueue(notificationCenter: center)
            queues.add(WeakQueue(queue: queue))
            queue.enqueue(.labelled("1", object: Ending(opening: isGone)), postingStyle: .asap)
            queues.add(WeakQueue(queue: .current))
            PostingQueue.current.enqueue(
                .labelled("2", object: Ending(opening: isCurrentGone)), postingStyle: .whenIdle)
            isFilled.open()
            _ = withExtendedLifetime(queue) { mayExit.pass() }
        }
        isFilled.pass()
        XCTAssertEqual(center.audit().waitingPosts.map(\.asap), [1])
        mayExit.open()
        isGone.pass()
        isCurrentGone.pass()
        XCTAssertEqual(log.entries, [])
        XCTAssertEqual(center.audit().droppedPosts, 1)
        XCTAssertEqual(center.audit().waitingPosts, [])
        // The default center's count is read before the release of the payload.
        XCTAssertEqual(ObserverCenter.default.audit().droppedPosts, before + 1)
        // The queues, and the run loop with their observers, are released with the thread.
        let end = ContinuousClock.now + .seconds(longestWait)
        while queues.entries.contains(where: { $0.queue != nil }), ContinuousClock.now < end {
            sched_yield()
        }
        XCTAssertEqual(queues.entries.filter { $0.queue != nil }.count, 0)
        withExtendedLifetime(token) {}
    }

    /// Q2: a queue for another center is closed when the thread exits, also a queue that is
    /// retained.
    func testQ2AQueueKeptAfterItsThreadIsClosed() {
        let center = ObserverCenter()
        let (queues, log, hasExited) = (Log<PostingQueue>(), Log<String>(), Gate())
        Thread.detachNewThread {
            // Queues are closed before.
            ThreadRecord.current[Ending.self] = Ending(opening: hasExited)
            let queue = PostingQueue(notificationCenter: center)
            queue.enqueue(
                .labelled("1", object: Ending { log.add("let go of") }), postingStyle: .asap)
            queues.add(queue)
        }
        hasExited.pass()
        XCTAssertEqual(log.entries, ["let go of"])
        queues.entries[0].enqueue(.labelled("2"), postingStyle: .asap)
        queues.entries[0].flush()
        XCTAssertEqual(center.audit().droppedPosts, 2)
        XCTAssertEqual(center.audit().waitingPosts, [])
    }

    /// Q1, R6: several threads enqueue, dequeue and flush at once. Each notification is posted at
    /// most once, in the order of its thread, and only dequeued notifications are not posted.
    func testQ1R6PostsOfManyThreadsKeepEachThreadsOrder() {
        let center = ObserverCenter()
        let threads = 3
        let each = 2_000
        let log = Log<[Int]>()
        let token = center.observe(.sample) {
            XCTAssertTrue(Thread.isMainThread)
            log.add($0.userInfo?["number"] as? [Int] ?? [])
        }
        let queue = PostingQueue(notificationCenter: center)
        let finished = Atomic<Int>(0)
        for thread in 0..<threads {
            Thread.detachNewThread {
                for number in 0..<each {
                    queue.enqueue(
                        Notification(
                            name: .sample, object: nil, userInfo: ["number": [thread, number]]),
                        postingStyle: number.isMultiple(of: 2) ? .asap : .whenIdle,
                        coalesceMask: .none)
                    if number.isMultiple(of: 100) {
                        queue.dequeueNotifications(
                            matching: Notification(name: .other), coalesceMask: .onName)
                    }
                }
                finished.wrappingAdd(1, ordering: .releasing)
            }
        }
        RunLoop.current.run(.default, until: { log.entries.count == threads * each })
        XCTAssertEqual(finished.load(ordering: .acquiring), threads)
        for thread in 0..<threads {
            for parity in 0..<2 {
                let numbers = log.entries.filter { $0[0] == thread && $0[1] % 2 == parity }.map {
                    $0[1]
                }
                XCTAssertEqual(numbers, Array(stride(from: parity, to: each, by: 2)))
            }
        }
        XCTAssertEqual(center.audit().waitingPosts, [])
        withExtendedLifetime(token) {}
    }

    private struct WeakQueue: Sendable { weak var queue: PostingQueue? }
}
