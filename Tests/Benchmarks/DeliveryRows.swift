import Foundation
import Synchronization
import Tether

extension Benchmark {
    static let delivering = [
        burst("burst to a dispatch queue, per delivery", size: 1000, goal: 0.5) {
            Notification(name: .measured)
        },
        burst(
            "burst with object and userInfo, per delivery", size: 1000, goal: 0.65
        ) {
            Notification(name: .measured, object: Plain(), userInfo: ["count": 1])
        },
        burst("stream to a dispatch queue, per delivery", size: 100_000, goal: 0.6) {
            Notification(name: .measured)
        },
        burstToOperationQueue, fanOut, manyPosters, latency, mainQueue,
    ]

    /// Posts until the last has been delivered, on a serial queue.
    private static func burst(
        _ work: String, size: Int, goal: Double, _ notification: @escaping @Sendable () -> Notification
    ) -> Benchmark {
        Benchmark(work, size: "\(size)", reference: "async each", goal: goal, clock: .elapsed, isLarge: size > 10_000) {
            let queue = DispatchQueue(label: "Benchmarks.burst")
            let (center, sink) = (ObserverCenter(), Sink())
            let token = center.observe(.measured, on: .dispatchQueue(queue)) { _ in addOne(sink) }
            // SAFETY: nobody changes what the notification holds.
            nonisolated(unsafe) let payload = notification()
            return .timed(
                Subject(count: max(10_000, size), keeping: token) { count in
                    for _ in 0..<max(1, count / size) {
                        let expected = sink.sum + size
                        for _ in 0..<size { unsafe center.post(payload) }
                        queue.sync {}
                        precondition(sink.sum == expected, "A delivery came after what was put on the queue behind it.")
                    }
                },
                Subject(count: max(10_000, size)) { count in
                    for _ in 0..<max(1, count / size) {
                        for _ in 0..<size {
                            queue.async {
                                unsafe withExtendedLifetime(payload) {}
                                addOne(sink)
                            }
                        }
                        queue.sync {}
                    }
                })
        }
    }

    private static let burstToOperationQueue = Benchmark(
        "burst to an operation queue, per delivery", size: "1000", reference: "addOperation each", goal: 0.05,
        clock: .elapsed
    ) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let (center, sink) = (ObserverCenter(), Sink())
        let token = center.observe(.measured, on: .operationQueue(queue)) { _ in addOne(sink) }
        let notification = Notification(name: .measured)
        return .timed(
            Subject(count: 2000, keeping: token) { count in
                for _ in 0..<max(1, count / 1000) {
                    for _ in 0..<1000 { center.post(notification) }
                    queue.waitUntilAllOperationsAreFinished()
                }
            },
            Subject(count: 2000) { count in
                for _ in 0..<max(1, count / 1000) {
                    for _ in 0..<1000 { queue.addOperation { addOne(sink) } }
                    queue.waitUntilAllOperationsAreFinished()
                }
            })
    }

    /// The poster's part of a post to many observers on one queue.
    private static let fanOut = Benchmark(
        "post to 100 observers on one queue, posting", size: "100", reference: "async each", goal: 0.55
    ) {
        let queue = DispatchQueue(label: "Benchmarks.fanOut")
        let (center, sink) = (ObserverCenter(), Sink())
        let tokens = (0..<100).map { _ in
            center.observe(.measured, on: .dispatchQueue(queue)) { _ in addOne(sink) }
        }
        let notification = Notification(name: .measured)
        return .timed(
            Subject(count: 10_000, keeping: tokens) { count in
                let expected = sink.sum + count
                for _ in 0..<count / 100 { center.post(notification) }
                queue.sync {}
                precondition(sink.sum == expected, "A delivery came after what was put on the queue behind it.")
            },
            Subject(count: 10_000) { count in
                for _ in 0..<count { queue.async { addOne(sink) } }
                queue.sync {}
            })
    }

    private static let manyPosters = Benchmark(
        "8 threads posting to one serial queue, a post", size: "8", reference: "async each", goal: 1, clock: .elapsed,
        hasStableInstructions: false
    ) {
        let queue = DispatchQueue(label: "Benchmarks.manyPosters")
        let (center, sink) = (ObserverCenter(), Sink())
        let token = center.observe(.measured, on: .dispatchQueue(queue)) { _ in addOne(sink) }
        // SAFETY: the notification holds a name only.
        nonisolated(unsafe) let notification = Notification(name: .measured)
        return .timed(
            Subject(count: 16_000, keeping: token) { count in
                let expected = sink.sum + count
                onThreads(8) { for _ in 0..<count / 8 { unsafe center.post(notification) } }
                queue.sync {}
                precondition(sink.sum == expected, "A delivery came after what was put on the queue behind it.")
            },
            Subject(count: 16_000) { count in
                onThreads(8) { for _ in 0..<count / 8 { queue.async { addOne(sink) } } }
                queue.sync {}
            })
    }

    private static let latency = Benchmark(
        "one post to an idle queue until its handler runs", reference: "one async", goal: 1.1, clock: .elapsed,
        hasStableInstructions: false
    ) {
        let queue = DispatchQueue(label: "Benchmarks.latency")
        let (center, ran) = (ObserverCenter(), DispatchSemaphore(value: 0))
        let token = center.observe(.measured, on: .dispatchQueue(queue)) { _ in ran.signal() }
        let notification = Notification(name: .measured)
        return .timed(
            Subject(count: 500, keeping: token) {
                for _ in 0..<$0 {
                    center.post(notification)
                    ran.wait()
                }
            },
            Subject(count: 500) {
                for _ in 0..<$0 {
                    queue.async { ran.signal() }
                    ran.wait()
                }
            })
    }

    /// A burst to the main queue from another thread, while the main thread's run loop runs.
    private static let mainQueue = Benchmark(
        "burst to the main queue, posted elsewhere", size: "1000", reference: "async each", goal: 0.8, clock: .elapsed,
        hasStableInstructions: false
    ) {
        let (center, sink) = (ObserverCenter(), Sink())
        let token = center.observe(.measured, on: .main) { _ in addOne(sink) }
        // SAFETY: the notification holds a name only.
        nonisolated(unsafe) let notification = Notification(name: .measured)
        func subject(_ send: @escaping @Sendable () -> Void) -> Subject {
            Subject(count: 10_000, keeping: token) { count in
                for _ in 0..<max(1, count / 1000) {
                    let expected = sink.sum + 1000
                    Thread.detachNewThread { for _ in 0..<1000 { send() } }
                    while sink.sum < expected { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
                }
            }
        }
        return .timed(
            subject { unsafe center.post(notification) }, subject { DispatchQueue.main.async { addOne(sink) } })
    }
}
