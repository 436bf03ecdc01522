import Foundation
import Tether

/// Stores submitted jobs until the test runs them.
private final class Jobs: DeliveryScheduler {
    private let jobs = Guarded<[@Sendable () -> Void]>([])

    func schedule(_ job: @escaping @Sendable () -> Void) { jobs.withLock { $0.append(job) } }
    var count: Int { jobs.withLock { $0.count } }
    func runFirst() { jobs.withLock { $0.removeFirst() }() }
}

extension Smoke {
    private func post(_ numbers: ClosedRange<Int>, on center: ObserverCenter) {
        for number in numbers {
            center.post(name: .smoke, object: nil, userInfo: ["number": number])
        }
    }

    mutating func queues() {
        let (center, log, queue) = (ObserverCenter(), Log(), DispatchQueue(label: "Smoke.queues"))
        @Sendable func name(_ note: Notification) -> String {
            "\(note.userInfo?["number"] ?? "none")"
        }
        queue.suspend()
        let one = center.observe(.smoke, on: .dispatchQueue(queue)) { log.add("one " + name($0)) }
        let two = center.observe(.smoke, on: .dispatchQueue(queue)) { log.add("two " + name($0)) }
        post(1...2, on: center)
        expect("D2", "a suspended queue", log.all, is: [])
        queue.resume()
        queue.sync {}
        expect("D4", "a serial queue", log.all, is: ["one 1", "two 1", "one 2", "two 2"])
        two.cancel()

        queue.suspend()
        post(3...3, on: center)
        one.target = .postingThread
        expect("D6", "the switch runs nothing", log.all.count, is: 4)
        post(4...4, on: center)
        expect("D6", "a post before the switch takes effect", log.all.count, is: 4)
        queue.resume()
        queue.sync {}
        expect("D6", "the old target", Array(log.all.dropFirst(4)), is: ["one 3", "one 4"])

        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        one.target = .operationQueue(operations)
        post(5...7, on: center)
        operations.waitUntilAllOperationsAreFinished()
        expect(
            "D2, D4", "an operation queue", Array(log.all.dropFirst(6)),
            is: ["one 5", "one 6", "one 7"])
    }

    mutating func bursts() {
        let (center, log, jobs) = (ObserverCenter(), Log(), Jobs())
        let token = center.observe(.smoke, on: .custom(jobs)) { _ in
            log.add("burst")
            center.post(name: .smoke, object: nil)
        }
        post(1...100, on: center)
        expect("D2", "one job for each post", jobs.count, is: 100)
        jobs.runFirst()
        expect("D2", "the delivery of one job", log.all.count, is: 1)
        expect("D7", "a handler that posts to its own target", jobs.count, is: 100)
        token.cancel()

        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        operations.isSuspended = true
        let batched = center.observe(.smoke, on: .operationQueue(operations, batching: true)) { _ in
            log.add("batched")
        }
        post(1...100, on: center)
        expect("D7", "operations of a burst with batching", operations.operationCount, is: 1)
        operations.isSuspended = false
        operations.waitUntilAllOperationsAreFinished()
        expect("D7", "its deliveries", log.all.count, is: 101)
        batched.cancel()
    }

    mutating func threads() {
        let (center, log) = (ObserverCenter(), Log())
        let main = center.observe(.smoke, on: .main) { _ in
            log.add(Thread.isMainThread ? "main" : "elsewhere")
        }
        center.post(name: .smoke, object: nil)
        expect("D3", "main, from the main thread", log.all, is: ["main"])
        Thread.detachNewThread { center.post(name: .smoke, object: nil) }
        wait("D3") { log.all.count == 2 }
        expect("D3", "main, from another thread", log.all, is: ["main", "main"])
        main.cancel()

        let thread = RunLoopThread(name: "smoke")
        let token = center.observe(.smoke, on: .thread(thread)) { _ in
            log.add(Thread.current.name ?? "nobody")
        }
        post(1...2, on: center)
        thread.start()
        wait("D5") { log.all.count == 4 }
        expect("D5", "a thread", Array(log.all.dropFirst(2)), is: ["smoke", "smoke"])
        thread.cancel()
        token.cancel()
    }

    mutating func postingQueues() {
        let (center, log) = (ObserverCenter(), Log())
        let token = center.observe(nil) {
            log.add($0.name == .smoke ? "smoke" : $0.object as? String ?? "other")
        }
        let queue = PostingQueue(notificationCenter: center)
        expect(
            "Q2", "one queue for each thread", PostingQueue.current === PostingQueue.default,
            is: true)
        func enqueue(_ object: String?, _ style: PostingQueue.PostingStyle) {
            queue.enqueue(
                Notification(name: object == nil ? .smoke : .other, object: object),
                postingStyle: style)
        }
        enqueue("idle", .whenIdle)
        enqueue("soon", .asap)
        for _ in 0..<3 { enqueue(nil, .asap) }
        expect("Q1", "before the loop runs", log.all, is: [])
        wait("Q1") { log.all.count >= 3 }
        expect("Q1, Q3", "soon before idle, each once", log.all, is: ["soon", "smoke", "idle"])
        enqueue("idle", .whenIdle)
        enqueue("idle", .now)
        expect("Q1", "now", log.all.count, is: 4)
        queue.flush()
        expect("Q3", "now takes out what it coalesces with", log.all.count, is: 4)
        token.cancel()
    }

    /// A separate function, so that no abandoned frame keeps the awaited value.
    private func postElsewhere(on center: ObserverCenter) {
        let hasPosted = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            center.post(name: .smoke, object: nil)
            hasPosted.signal()
        }
        hasPosted.wait()
    }

    /// Runs the main run loop for a pass, and then no more: the main queue delivers the rest, and
    /// later posts. Calls `finish` with the result, and never returns.
    func mainLoopThatEnds(_ finish: @escaping @MainActor (Smoke) -> Void) -> Never {
        let (center, log) = (ObserverCenter(), Log())
        let queue = PostingQueue(notificationCenter: center)
        let tokens = [
            center.observe(.smoke, on: .thread(.mainThread)) { _ in log.add("common") },
            center.observe(.other) { _ in log.add("idle") },
            center.observe(.atEnd) { _ in
                log.add("at end")
                queue.enqueue(Notification(name: .other), postingStyle: .whenIdle)
            },
        ]
        postElsewhere(on: center)
        DispatchQueue.main.async {
            queue.enqueue(Notification(name: .atEnd), postingStyle: .whenIdle)
        }
        // The run ends after the block. What waits is posted at its end, and what a handler
        // enqueues there waits for later.
        _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 60))
        Thread.detachNewThread {
            func wait(for count: Int) {
                let deadline = Date(timeIntervalSinceNow: 60)
                while log.all.count < count, Date() < deadline { usleep(1000) }
            }
            wait(for: 3)
            let waited = log.all.sorted()
            center.post(name: .smoke, object: nil)
            queue.enqueue(Notification(name: .other), postingStyle: .asap)
            wait(for: 5)
            DispatchQueue.main.async {
                var smoke = self
                let all = ["at end", "common", "idle"]
                smoke.expect("D5, Q2", "what waited, after the main run loop", waited, is: all)
                smoke.expect(
                    "D5, Q2", "what came then", log.all.dropFirst(3).sorted(),
                    is: ["common", "idle"])
                withExtendedLifetime((tokens, queue)) { finish(smoke) }
            }
        }
        // AddressSanitizer takes the abandoned frames for used frames while the main thread exits.
        // SAFETY: the function has no parameters and no result. Only builds with AddressSanitizer
        // have the function.
        if let unpoison = unsafe dlsym(nil, "__asan_handle_no_return") {
            unsafe unsafeBitCast(unpoison, to: (@convention(c) () -> Void).self)()
        }
        dispatchMain()
    }
}
