import Foundation
import Tether

extension Benchmark {
    /// Enqueueing and flushing k distinct notifications with the default coalescing, per
    /// notification.
    static let queueing =
        [
            Benchmark("PostingQueue: enqueue + flush", size: "k = 250", goal: 0.02) {
                let objects = (0..<250).map { _ in Plain() }
                return .timed(
                    flushes(250),
                    Subject(count: 250) { count in
                        let queue = NotificationQueue(notificationCenter: NotificationCenter())
                        for index in 0..<count {
                            queue.enqueue(
                                Notification(name: .measured, object: objects[index % 250]),
                                postingStyle: .asap)
                        }
                        queue.dequeueNotifications(
                            matching: Notification(name: .measured), coalesceMask: .onName)
                    })
            }
        ]
        + [8000, 100_000].map { k in
            Benchmark(
                "PostingQueue: enqueue + flush", size: "k = \(k)", reference: "k = 250", goal: 2,
                isLarge: k > 10_000
            ) {
                .timed(flushes(k), flushes(250))
            }
        } + manyQueues

    private static func flushes(_ k: Int) -> Subject {
        let queue = PostingQueue(notificationCenter: ObserverCenter())
        let objects = (0..<k).map { _ in Plain() }
        return Subject(count: k) { count in
            for index in 0..<count {
                queue.enqueue(
                    Notification(name: .measured, object: objects[index % k]), postingStyle: .asap)
            }
            queue.flush()
        }
    }

    /// Queues of one center are made, used and released: the cost of a queue does not depend on
    /// their number.
    private static let manyQueues = [
        Benchmark(
            "n posting queues of one center, each", size: "n = 8000", reference: "n = 100", goal: 3,
            isLarge: true
        ) {
            func subject(_ size: Int) -> Subject {
                let center = ObserverCenter()
                return Subject(count: size) { count in
                    for _ in 0..<max(1, count / size) {
                        let queues = (0..<size).map { _ in PostingQueue(notificationCenter: center)
                        }
                        for queue in queues {
                            queue.enqueue(Notification(name: .measured), postingStyle: .asap)
                            queue.flush()
                        }
                    }
                }
            }
            return .timed(subject(8000), subject(100))
        }
    ]
}
