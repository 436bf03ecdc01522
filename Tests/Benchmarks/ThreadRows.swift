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
