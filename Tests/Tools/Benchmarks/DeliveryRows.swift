import Foundation
import Synchronization
import Tether

extension Benchmark {
    static let delivering =
        Payload.allCases.flatMap { payload in
            [
                burst("burst to a dispatch queue, per delivery", size: 1000, payload, goal: 0.75),
                burst(
                    "stream to a dispatch queue, per delivery", size: 100_000, payload, goal: 0.75),
                burstToOperationQueue(payload, goal: 1.05), fanOut(payload),
                manyPosters(payload, goal: 0.9),
                latency(payload), mainQueue(payload, goal: 1),
            ]
        } + [
            burst(
                "batched burst to a dispatch queue", size: 1000, .none, batching: true, goal: 0.4),
            burst(
                "batched stream to a dispatch queue", size: 100_000, .none, batching: true,
                goal: 0.3),
            burstToOperationQueue(.none, batching: true, goal: 0.06),
            manyPosters(.none, batching: true, goal: 0.6),
            mainQueue(.none, batching: true, goal: 0.3),
        ]

    /// The payload of a post. The reference's blocks capture the same.
    private enum Payload: CaseIterable {
        case none
        /// An object and a userInfo.
        case full

        var notification: Notification {
            switch self {
            case .none: Notification(name: .measured)
            case .full: Notification(name: .measured, object: Plain(), userInfo: ["count": 1])
            }
        }

        func size(_ size: String) -> String {
            self == .none ? size : size.isEmpty ? "full" : "\(size) full"
        }

        func goal(_ none: Double, full: Double? = nil) -> Double? { self == .none ? none : full }
    }

    private static func name(_ work: String, batching: Bool) -> String {
        batching ? "batched " + work : work
    }

    /// Posts until the last has been delivered, on a serial queue.
    private static func burst(
        _ work: String, size: Int, _ payload: Payload, batching: Bool = false, goal: Double
    ) -> Benchmark {
        Benchmark(
            work, size: payload.size("\(size)"), reference: "async each",
            goal: payload.goal(goal), clock: .elapsed, isLarge: size > 10_000
        ) {
            let queue = DispatchQueue(label: "Benchmarks.burst")
            let (center, sink) = (ObserverCenter(), Sink())
            let token = center.observe(.measured, on: .dispatchQueue(queue, batching: batching)) {
                _ in addOne(sink)
            }
            // SAFETY: nobody changes the notification's content.
            nonisolated(unsafe) let notification = payload.notification
            return .timed(
                Subject(count: max(10_000, size), keeping: token) { count in
                    for _ in 0..<max(1, count / size) {
                        let expected = sink.sum + size
                        for _ in 0..<size { unsafe center.post(notification) }
                        queue.sync {}
                        precondition(
                            sink.sum == expected,
                            "A delivery came after what was put on the queue behind it.")
                    }
                },
                Subject(count: max(10_000, size)) { count in
                    for _ in 0..<max(1, count / size) {
                        for _ in 0..<size { unsafe queue.addOne(to: sink, holding: notification) }
                        queue.sync {}
                    }
                })
        }
    }

    private static func burstToOperationQueue(
        _ payload: Payload, batching: Bool = false, goal: Double
    ) -> Benchmark {
        Benchmark(
            name("burst to an operation queue", batching: batching), size: payload.size("1000"),
            reference: "addOperation each", goal: payload.goal(goal), clock: .elapsed,
            hasStableInstructions: false
        ) {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let (center, sink) = (ObserverCenter(), Sink())
            let token = center.observe(.measured, on: .operationQueue(queue, batching: batching)) {
                _ in addOne(sink)
            }
            // SAFETY: nobody changes the notification's content.
            nonisolated(unsafe) let notification = payload.notification
            return .timed(
                Subject(count: 2000, keeping: token) { count in
                    for _ in 0..<max(1, count / 1000) {
                        for _ in 0..<1000 { unsafe center.post(notification) }
                        queue.waitUntilAllOperationsAreFinished()
                    }
                },
                Subject(count: 2000) { count in
                    for _ in 0..<max(1, count / 1000) {
                        for _ in 0..<1000 {
                            queue.addOperation {
                                unsafe withExtendedLifetime(notification) {}
                                addOne(sink)
                            }
                        }
                        queue.waitUntilAllOperationsAreFinished()
                    }
                })
        }
    }

    /// The posting thread's part of a post to many observers on the same queue.
    private static func fanOut(_ payload: Payload) -> Benchmark {
        Benchmark(
            "post to 100 observers on one queue, posting", size: payload.size("100"),
            reference: "async each",
            goal: payload.goal(0.35, full: 0.5)
        ) {
            let queue = DispatchQueue(label: "Benchmarks.fanOut")
            let (center, sink) = (ObserverCenter(), Sink())
            let tokens = (0..<100).map { _ in
                center.observe(.measured, on: .dispatchQueue(queue)) { _ in addOne(sink) }
            }
            // SAFETY: nobody changes the notification's content.
            nonisolated(unsafe) let notification = payload.notification
            return .timed(
                Subject(count: 10_000, keeping: tokens) { count in
                    let expected = sink.sum + count
                    for _ in 0..<count / 100 { unsafe center.post(notification) }
                    queue.sync {}
                    precondition(
                        sink.sum == expected,
                        "A delivery came after what was put on the queue behind it.")
                },
                Subject(count: 10_000) { count in
                    for _ in 0..<count { unsafe queue.addOne(to: sink, holding: notification) }
                    queue.sync {}
                })
        }
    }

    private static func manyPosters(_ payload: Payload, batching: Bool = false, goal: Double)
        -> Benchmark
    {
        Benchmark(
            name("8 threads posting to one serial queue", batching: batching),
            size: payload.size("8"),
            reference: "async each", goal: payload.goal(goal), clock: .elapsed,
            hasStableInstructions: false
        ) {
            let queue = DispatchQueue(label: "Benchmarks.manyPosters")
            let (center, sink) = (ObserverCenter(), Sink())
            let token = center.observe(.measured, on: .dispatchQueue(queue, batching: batching)) {
                _ in addOne(sink)
            }
            // SAFETY: nobody changes the notification's content.
            nonisolated(unsafe) let notification = payload.notification
            return .timed(
                Subject(count: 16_000, keeping: token) { count in
                    let expected = sink.sum + count
                    onThreads(8) { for _ in 0..<count / 8 { unsafe center.post(notification) } }
                    queue.sync {}
                    precondition(
                        sink.sum == expected,
                        "A delivery came after what was put on the queue behind it.")
                },
                Subject(count: 16_000) { count in
                    onThreads(8) {
                        for _ in 0..<count / 8 {
                            unsafe queue.addOne(to: sink, holding: notification)
                        }
                    }
                    queue.sync {}
                })
        }
    }

    private static func latency(_ payload: Payload) -> Benchmark {
        Benchmark(
            "one post to an idle queue until its handler runs", size: payload.size(""),
            reference: "one async",
            goal: payload.goal(1.1), clock: .elapsed, hasStableInstructions: false
        ) {
            let queue = DispatchQueue(label: "Benchmarks.latency")
            let (center, ran) = (ObserverCenter(), DispatchSemaphore(value: 0))
            let token = center.observe(.measured, on: .dispatchQueue(queue)) { _ in ran.signal() }
            // SAFETY: nobody changes the notification's content.
            nonisolated(unsafe) let notification = payload.notification
            return .timed(
                Subject(count: 500, keeping: token) {
                    for _ in 0..<$0 {
                        unsafe center.post(notification)
                        ran.wait()
                    }
                },
                Subject(count: 500) {
                    for _ in 0..<$0 {
                        queue.async {
                            unsafe withExtendedLifetime(notification) {}
                            ran.signal()
                        }
                        ran.wait()
                    }
                })
        }
    }

    /// A burst to the main queue from another thread, while the main thread's run loop runs.
    private static func mainQueue(_ payload: Payload, batching: Bool = false, goal: Double)
        -> Benchmark
    {
        Benchmark(
            name("burst to the main queue, posted elsewhere", batching: batching),
            size: payload.size("1000"),
            reference: "async each", goal: payload.goal(goal), clock: .elapsed,
            hasStableInstructions: false
        ) {
            let (center, sink) = (ObserverCenter(), Sink())
            let token = center.observe(.measured, on: .dispatchQueue(.main, batching: batching)) {
                _ in addOne(sink)
            }
            // SAFETY: nobody changes the notification's content.
            nonisolated(unsafe) let notification = payload.notification
            func subject(_ send: @escaping @Sendable () -> Void) -> Subject {
                Subject(count: 10_000, keeping: token) { count in
                    for _ in 0..<max(1, count / 1000) {
                        let expected = sink.sum + 1000
                        Thread.detachNewThread { for _ in 0..<1000 { send() } }
                        while sink.sum < expected {
                            _ = RunLoop.main.run(mode: .default, before: .distantFuture)
                        }
                    }
                }
            }
            return .timed(
                subject { unsafe center.post(notification) },
                subject {
                    DispatchQueue.main.async {
                        unsafe withExtendedLifetime(notification) {}
                        addOne(sink)
                    }
                })
        }
    }
}

extension DispatchQueue {
    /// The reference for deliveries: a block for each, with the same captures.
    @inline(__always)
    fileprivate func addOne(to sink: Sink, holding notification: Notification) {
        // SAFETY: nobody changes the notification's content.
        nonisolated(unsafe) let notification = notification
        async {
            unsafe withExtendedLifetime(notification) {}
            Benchmarks.addOne(sink)
        }
    }
}
