import Dispatch
import Foundation
import Testing
import Tether

/// Each delivery has its place: among other work, among the posts of other threads, and among the
/// deliveries of other observers.
@Suite(.ownThread) struct PlaceTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    /// Runs a body on the main queue, and returns after what the body has put there.
    private func onMainQueue(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                body()
                DispatchQueue.main.async { continuation.resume() }
            }
        }
    }

    @Test func `D2 a cancelled operation of a concurrent queue drops its own post's delivery`()
        throws
    {
        let queue = OperationQueue()
        queue.isSuspended = true
        let token = center.observe(.sample, on: .operationQueue(queue)) { [log] in
            log.add("\($0.number)")
        }
        center.post(.sample, numbers: 1...3)
        try #require(queue.operations.count == 3)
        queue.operations[2].cancel()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["1", "2"])
        withExtendedLifetime(token) {}
    }

    @Test func `D4 D8 a bounded backlog delivers nothing before an earlier barrier`() {
        let queue = DispatchQueue(label: "PlaceTests", attributes: .concurrent)
        let token = center.observe(.sample, on: .dispatchQueue(queue, concurrently: true)) {
            [log] in
            log.add("\($0.number)")
        }
        token.backlog = .newest(1)
        for _ in 1...100 {
            queue.suspend()
            center.post(.sample, number: 1)
            queue.async(flags: .barrier) { [log] in log.add("barrier") }
            center.post(.sample, number: 2)
            queue.resume()
            queue.sync(flags: .barrier) {}
        }
        #expect(log.entries == (1...100).flatMap { _ in ["barrier", "2"] })
        withExtendedLifetime(token) {}
    }

    @Test func `D4 D5 two observers on a thread see the posts of two threads in one order`() {
        let thread = RunLoopThread(name: "PlaceTests")
        thread.start()
        let (center, first, second, done) = (center, Log<Int>(), Log<Int>(), Gate())
        let tokens = [
            center.observe(.sample, on: .thread(thread)) { first.add($0.number) },
            center.observe(.sample, on: .thread(thread)) { second.add($0.number) },
            center.observe(.other, on: .thread(thread)) { _ in done.open() },
        ]
        allAtOnce(
            { center.post(.sample, numbers: 0..<3000) },
            { center.post(.sample, numbers: 3000..<6000) })
        center.post(.other)
        done.pass()
        #expect(first.entries.count == 6000)
        #expect(first.entries == second.entries)
        withExtendedLifetime(tokens) {}
        thread.cancel()
    }

    private actor Counted {
        private(set) var count = 0

        func count(one: Int) { count += one }
    }

    @MainActor @Test
    func `P2 code that posts and then awaits the actor finds the delivery made`() async {
        let (center, counted) = (center, Counted())
        center.observe(.sample, owner: counted) { (counted: isolated Counted, _) in
            counted.count(one: 1)
        }
        // A task of a higher priority than the default.
        let found = await Task(priority: .userInitiated) {
            var found: [Int] = []
            for _ in 1...200 {
                center.post(.sample)
                found.append(await counted.count)
            }
            return found
        }.value
        #expect(found == Array(1...200))
        withExtendedLifetime(counted) {}
    }

    @Test func `D6 an owner's observers with a fixed target do not move with the others`() {
        let owner = NSObject()
        let manual = DeliveryTarget.custom(ManualScheduler())
        center.observe(.sample, owner: owner, on: manual) { _, _ in }
        center.observe(.other, owner: owner, on: .mainActor) { _, _ in }
        OwnerObservers(of: owner).target = .postingThread
        let targets = OwnerObservers(of: owner).map(\.target.description)
        #expect(targets == ["posting thread", "main"])
        OwnerObservers(of: owner).target = manual
        #expect(OwnerObservers(of: owner).target.description.hasPrefix("custom"))
    }

    @Test func `D2 a concurrent observer shares no block with a serial observer`() {
        let queue = DispatchQueue(label: "PlaceTests", attributes: .concurrent)
        let (isRunning, done) = (Gate(), Gate())
        let tokens = [
            center.observe(.sample, on: .dispatchQueue(queue, concurrently: true)) { _ in
                isRunning.pass()
                done.open()
            },
            center.observe(.sample, on: .dispatchQueue(queue)) { _ in isRunning.open() },
        ]
        center.post(.sample, number: 1)
        done.pass()
        withExtendedLifetime(tokens) {}
    }

    @Test func `D7 batching on a concurrent queue lets one observer wait for another`() {
        let queue = DispatchQueue(label: "PlaceTests", attributes: .concurrent)
        let target = DeliveryTarget.dispatchQueue(queue, concurrently: true, batching: true)
        let (isRunning, done) = (Gate(), Gate())
        let tokens = [
            center.observe(.sample, on: target) { _ in
                isRunning.pass()
                done.open()
            },
            center.observe(.sample, on: target) { _ in isRunning.open() },
        ]
        center.post(.sample, number: 1)
        done.pass()
        withExtendedLifetime(tokens) {}
    }

    @Test func `D3 a post on a run loop's thread is handled behind earlier posts from elsewhere`() {
        let (center, log) = (center, log)
        JoinableThread {
            RunLoopThread.prepareCurrentThread()
            let tokens = [
                center.observe(.sample, on: .currentThread) { _ in log.add("started") },
                center.observe(.other, on: .currentThread) { _ in log.add("stopped") },
            ]
            JoinableThread { center.post(.sample) }.join()
            center.post(.other)
            log.add("posted")
            RunLoop.current.run(.default) { log.entries.count == 3 }
            withExtendedLifetime(tokens) {}
        }.join()
        #expect(log.entries == ["posted", "started", "stopped"])
    }

    @Test func `D3 a post inside a handler on the main queue is handled at once, others wait`()
        async
    {
        let (center, log) = (center, log)
        let tokens = [
            center.observe(.sample, on: .main) { note in
                guard note.number == 1 else { return log.add("sample \(note.number)") }
                onThreads({ center.post(.sample, number: 2) })
                center.post(.other)
                log.add("sample 1")
            },
            center.observe(.other, on: .main) { _ in log.add("inside") },
        ]
        onThreads({ center.post(.sample, number: 1) })
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { DispatchQueue.main.async { continuation.resume() } }
        }
        #expect(log.entries == ["inside", "sample 1", "sample 2"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `D3 D9 an unmuting inside a handler is delivered at once, though others wait`() async
    {
        let (center, log) = (center, log)
        let muted = center.observe(.other, on: .main) { _ in log.add("kept") }
        let unmuting = center.observe(.sample, on: .main) { note in
            guard note.number == 1 else { return log.add("sample \(note.number)") }
            onThreads({ center.post(.sample, number: 2) })
            muted.unmute()
            log.add("sample 1")
        }
        muted.mute(keepingNewest: true)
        await onMainQueue { center.post(.other) }
        onThreads({ center.post(.sample, number: 1) })
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { DispatchQueue.main.async { continuation.resume() } }
        }
        #expect(log.entries == ["kept", "sample 1", "sample 2"])
        withExtendedLifetime(unmuting) {}
    }

    @Test func `D3 D6 a delivery that a switch has moved away holds up no post`() async {
        let (center, log, scheduler) = (center, log, ManualScheduler())
        let moved = center.observe(.sample, on: .main) { _ in log.add("moved") }
        let other = center.observe(.other, on: .main) { _ in log.add("inline") }
        await onMainQueue {
            onThreads({ center.post(.sample) })
            moved.target = .custom(scheduler)
            center.post(.other)
            log.add("posted")
        }
        scheduler.runAll()
        #expect(log.entries == ["inline", "posted", "moved"])
        withExtendedLifetime(other) {}
    }

    @Test func `D3 a delivery for mainAsync and one of another center hold up no post`() async {
        let (center, other, log) = (center, ObserverCenter(), log)
        let tokens = [
            center.observe(.sample, on: .mainAsync) { _ in log.add("later") },
            other.observe(.sample, on: .main) { _ in log.add("other center") },
            center.observe(.other, on: .main) { _ in log.add("inline") },
        ]
        await onMainQueue {
            onThreads({
                center.post(.sample)
                other.post(.sample)
            })
            center.post(.other)
            log.add("posted")
        }
        #expect(log.entries == ["inline", "posted", "later", "other center"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `M3 D3 a post on the main queue is handled before another thread's later post`()
        async
    {
        let (center, log) = (center, log)
        let tokens = [
            center.observe(.sample, on: .main) { _ in
                log.add("first: sample")
                onThreads({ center.post(.other) })
            },
            center.observe(nil, on: .main) { log.add("any: \($0.name.rawValue)") },
            center.observe(.sample, on: .main) { _ in log.add("last: sample") },
        ]
        await onMainQueue {
            center.post(.sample)
            log.add("posted")
        }
        #expect(
            log.entries == [
                "first: sample", "any: sample", "last: sample", "posted", "any: other",
            ])
        withExtendedLifetime(tokens) {}
    }

    @Test func `R4 D9 a handler's mutings and unmutings begin with the next post`() async {
        let (center, log) = (center, log)
        let (muted, unmuted) = (Holder<NotificationObserver>(), Holder<NotificationObserver>())
        let first = center.observe(.sample, on: .main) { note in
            guard note.number == 1 else { return }
            muted.object?.mute()
            onThreads({ unmuted.object?.unmute() })
        }
        muted.object = center.observe(.sample, on: .main) { log.add("muted \($0.number)") }
        unmuted.object = center.observe(.sample, on: .main) { log.add("unmuted \($0.number)") }
        await onMainQueue {
            unmuted.object?.mute()
            center.post(.sample, numbers: 1...2)
        }
        #expect(log.entries == ["muted 1", "unmuted 2"])
        withExtendedLifetime((first, muted, unmuted)) {}
    }

    @Test(arguments: [DeliveryTarget.postingThread, .main])
    func `R4 D6 an observer that a handler switches is still called by that post`(
        from target: DeliveryTarget
    ) async {
        let (center, log, scheduler) = (center, log, ManualScheduler())
        let switched = Holder<NotificationObserver>()
        let first = center.observe(.sample, on: target) { note in
            if note.number == 1 { switched.object?.target = .custom(scheduler) }
        }
        switched.object = center.observe(.sample, on: target) { log.add("\($0.number)") }
        await onMainQueue {
            center.post(.sample, numbers: 1...2)
            log.add("posted")
        }
        scheduler.runAll()
        #expect(log.entries == ["1", "posted", "2"])
        withExtendedLifetime((first, switched)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `D3 D4 a post asks its observers as a whole, also if one posts meanwhile`()
        async
    {
        let (center, log) = (center, log)
        let tokens = [
            center.observe(.sample, on: .main) { log.add("first: \($0.number)") },
            center.observe(for: .type(SampleMessage.self), on: .mainAsync) { _ in },
            center.observe(.sample, on: .main) { log.add("last: \($0.number)") },
        ]
        await onMainQueue {
            center.post(
                name: .sample, object: nil,
                userInfo: [
                    "number": 1, "meanwhile": Meanwhile { center.post(.sample, number: 2) },
                ])
        }
        #expect(log.entries == ["first: 1", "last: 1", "first: 2", "last: 2"])
        withExtendedLifetime(tokens) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `D3 D4 a post is decided as a whole, also with observers in other modes between`() {
        let (center, log) = (center, log)
        JoinableThread {
            let thread = Thread.current
            RunLoopThread.prepareCurrentThread()
            let tokens = [
                center.observe(.sample, on: .currentThread) { log.add("first: \($0.number)") },
                center.observe(.sample, on: .thread(thread, modes: [.default])) { _ in },
                center.observe(for: .type(SampleMessage.self), on: .mainAsync) { _ in },
                center.observe(.sample, on: .currentThread) { log.add("last: \($0.number)") },
            ]
            center.post(
                name: .sample, object: nil,
                userInfo: [
                    "number": 1, "meanwhile": Meanwhile { center.post(.sample, number: 2) },
                ])
            RunLoop.current.run(.default) { log.entries.count == 4 }
            withExtendedLifetime(tokens) {}
        }.join()
        #expect(log.entries == ["first: 1", "last: 1", "first: 2", "last: 2"])
    }
}

/// Makes another thread do something while a post converts a notification, before the post asks the
/// observers behind.
private final class Meanwhile: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private struct SampleMessage: BridgedAsyncMessage {
    typealias Subject = Album
    static var name: Notification.Name { .sample }

    static func makeMessage(_ notification: Notification) -> Self? {
        if let meanwhile = notification.userInfo?["meanwhile"] as? Meanwhile {
            onThreads(meanwhile.body)
        }
        return nil
    }

    static func makeNotification(_ message: Self) -> Notification { Notification(name: .sample) }
}
