import Foundation
import Tether

extension Benchmark {
    static let threads =
        [
            Benchmark(
                "posting one name from 2 threads, x threads", size: "2", reference: "1 thread", goal: 1.15,
                clock: .elapsed, hasStableInstructions: false
            ) {
                // Counted by one thread's posts: elapsed time x threads / posts, for threads that each have a core.
                .timed(posts(threads: 2, counted: 1), posts(threads: 1, counted: 1))
            }
        ]
        + [4, 8, 16, 32].map { threads in
            Benchmark(
                "posting one name from n threads", size: "\(threads)", reference: "1 thread", goal: 2, clock: .elapsed,
                hasStableInstructions: false
            ) {
                .timed(posts(threads: threads, counted: threads), posts(threads: 1, counted: 1))
            }
        } + waiting

    /// Many who wait at once, each for another observer's handler: one costs the same, however many there are.
    private static let waiting = [
        Benchmark(
            "n calls of await stopAndWait() at once, each", size: "n = 4000", reference: "n = 100", goal: 3,
            clock: .elapsed, isLarge: true, hasStableInstructions: false
        ) {
            .timed(waits(4000), waits(100))
        }
    ]

    private static func waits(_ size: Int) -> Subject {
        Subject(count: size) { count in
            for _ in 0..<max(1, count / size) {
                let (center, done) = (ObserverCenter(), DispatchSemaphore(value: 0))
                let (mayReturn, opening) = AsyncStream.makeStream(of: Void.self)
                // A task of no observer's, so that it is not cancelled when they stop.
                let opened = Task { for await _ in mayReturn {} }
                let tokens = (0..<size).map { _ in center.observe(.measured) { _ in await opened.value } }
                center.post(name: .measured, object: nil)
                Task {
                    await withTaskGroup { group in
                        for token in tokens { group.addTask { _ = await token.stopAndWait() } }
                        // Behind those that wait.
                        group.addTask { opening.finish() }
                    }
                    done.signal()
                }
                done.wait()
            }
        }
    }

    /// Threads that post one name at once; `counted` of them count.
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
