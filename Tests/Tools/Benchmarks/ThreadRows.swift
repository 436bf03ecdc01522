import Foundation
import Tether

extension Benchmark {
    static let threads =
        [
            Benchmark(
                "posting one name from 2 threads, x threads", size: "2", reference: "1 thread",
                goal: 1.15,
                clock: .elapsed, hasStableInstructions: false
            ) {
                // Counted by the posts of one thread: elapsed time x threads / posts, if each
                // thread has a core.
                .timed(posts(threads: 2, counted: 1), posts(threads: 1, counted: 1))
            }
        ]
        + [4, 8, 16, 32].map { threads in
            Benchmark(
                "posting one name from n threads", size: "\(threads)", reference: "1 thread",
                goal: 2, clock: .elapsed,
                hasStableInstructions: false
            ) {
                .timed(posts(threads: threads, counted: threads), posts(threads: 1, counted: 1))
            }
        } + waiting + longHandler + idleThreads

    /// Many threads wait at once, each for another observer's handler. The cost of a wait does not
    /// depend on the number of threads.
    private static let waiting = [
        Benchmark(
            "n calls of await cancelAndWait() at once, each", size: "n = 4000",
            reference: "n = 100", goal: 3,
            clock: .elapsed, isLarge: true, hasStableInstructions: false
        ) {
            .timed(waits(4000), waits(100))
        }
    ]

    /// Posts while the handler of an observer that has ended still runs on another thread, until
    /// the process ends.
    private static let longHandler = [
        Benchmark(
            "post while another thread's long handler has ended its observer",
            reference: "without one",
            goal: 1.5,
            hasStableInstructions: false
        ) {
            .timed(posts(besideLongHandler: true), posts(besideLongHandler: false))
        }
    ]

    private static func posts(besideLongHandler: Bool) -> Subject {
        let center = ObserverCenter()
        let token = center.observe(.measured) { _ in }
        if besideLongHandler {
            let (handle, hasEnded) = (Handle(), DispatchSemaphore(value: 0))
            handle.token = center.observe(.unobserved) { _ in
                handle.token?.cancel()
                hasEnded.signal()
                DispatchSemaphore(value: 0).wait()
            }
            Thread.detachNewThread { center.post(name: .unobserved, object: nil) }
            hasEnded.wait()
        }
        return Subject(count: 50_000, keeping: token) {
            for _ in 0..<$0 { center.post(name: .measured, object: nil) }
        }
    }

    /// The token of an observer, for its own handler.
    final class Handle: @unchecked Sendable {
        var token: NotificationObserver?
    }

    /// A removal reads the guards of all running threads with an earlier post.
    private static let idleThreads = [
        Benchmark(
            "add + remove beside n threads that once posted", size: "n = 1000", reference: "n = 0",
            goal: 10,
            hasStableInstructions: false
        ) {
            let center = ObserverCenter()
            let token = center.observe(.measured) { _ in }
            func time() -> Double {
                let (start, count) = (Clock.processor.now, 5000)
                for _ in 0..<count { center.observe(.measured) { _ in }.cancel() }
                return (Clock.processor.now - start) / Double(count)
            }
            func median() -> Double { (0..<7).map { _ in time() }.sorted()[3] }
            _ = time()
            let alone = median()
            let (hasPosted, mayExit) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            for _ in 0..<1000 {
                Thread.detachNewThread {
                    center.post(name: .measured, object: nil)
                    hasPosted.signal()
                    mayExit.wait()
                }
            }
            for _ in 0..<1000 { hasPosted.wait() }
            defer { for _ in 0..<1000 { mayExit.signal() } }
            return withExtendedLifetime(token) { .counted(median(), alone, unit: "ns") }
        }
    ]

    private static func waits(_ size: Int) -> Subject {
        Subject(count: size) { count in
            for _ in 0..<max(1, count / size) {
                let (center, done) = (ObserverCenter(), DispatchSemaphore(value: 0))
                let (mayReturn, opening) = AsyncStream.makeStream(of: Void.self)
                // A task without an observer, so the end of observers does not cancel the task.
                let opened = Task { for await _ in mayReturn {} }
                let tokens = (0..<size).map { _ in
                    center.observe(.measured) { _ in await opened.value }
                }
                center.post(name: .measured, object: nil)
                Task {
                    await withTaskGroup { group in
                        for token in tokens { group.addTask { _ = await token.cancelAndWait() } }
                        // Behind the waiting tasks.
                        group.addTask { opening.finish() }
                    }
                    done.signal()
                }
                done.wait()
            }
        }
    }

    /// Threads that post the same name at once. The posts of `counted` threads count.
    private static func posts(threads: Int, counted: Int) -> Subject {
        let center = ObserverCenter()
        let token = center.observe(.measured) { _ in }
        // SAFETY: the notification holds a name only.
        nonisolated(unsafe) let notification = Notification(name: .measured)
        return Subject(count: 100_000 * counted, keeping: token) { count in
            onThreads(threads) { for _ in 0..<count / counted { unsafe center.post(notification) } }
        }
    }
}

/// Runs a body on a number of new threads, and waits for all.
func onThreads(_ threads: Int, _ body: @escaping @Sendable () -> Void) {
    let group = DispatchGroup()
    for _ in 0..<threads {
        group.enter()
        Thread.detachNewThread {
            body()
            group.leave()
        }
    }
    group.wait()
}
