import Dispatch
import Foundation
import Testing

@testable import Tether

/// One block for each post and target: a delivery keeps its place, and a post is a single step.
@Suite(.ownThread) struct BlockTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    @Test func `D4 work on a queue runs before a later post's handlers, though a delivery waits`() {
        let queue = DispatchQueue(label: "BlockTests")
        let token = center.observe(.sample, on: .dispatchQueue(queue)) { [log] in
            log.add("\($0.number)")
        }
        for number in 1...200 {
            queue.suspend()
            center.post(.sample, number: 0)
            queue.async { [log] in log.add("before \(number)") }
            center.post(.sample, number: number)
            queue.async { [log] in log.add("after \(number)") }
            queue.resume()
        }
        queue.settle()
        #expect(log.entries == (1...200).flatMap { ["0", "before \($0)", "\($0)", "after \($0)"] })
        withExtendedLifetime(token) {}
    }

    @Test func `D6 M9 blocks of a suspended queue keep nothing but their slots after a switch`() {
        let (left, queue) = (DispatchQueue(label: "left"), DispatchQueue(label: "BlockTests"))
        left.suspend()
        let token = center.observe(.sample, on: .dispatchQueue(left)) { [log] in
            log.add("\($0.number)")
        }
        for number in 1...100 { center.post(.sample, number: number) }
        token.target = .dispatchQueue(queue)
        for _ in 1...50 {
            for number in 1...500 { center.post(.sample, number: number) }
            queue.settle()
        }
        #expect(log.entries.count == 100 + 50 * 500)
        let slots = token.registration?.mailbox?.state.withLock { $0.queue.capacity } ?? 0
        #expect(100...2048 ~= slots)
        left.resume()
        left.settle()
        withExtendedLifetime(token) {}
    }

    @Test func `D2 libdispatch's own queue gets the blocks, without a closure of Swift's`() {
        #expect(unsafe DispatchQueue(label: "BlockTests").cQueue != nil)
        #expect(unsafe DispatchQueue.global().cQueue != nil)
    }

    @Test func `D4 a barrier on a concurrent queue runs before the handlers of a later post`() {
        let queue = DispatchQueue(label: "BlockTests", attributes: .concurrent)
        let token = center.observe(.sample, on: .dispatchQueue(queue, concurrently: true)) {
            [log] in
            log.add("\($0.number)")
        }
        for number in 1...200 {
            queue.async(flags: .barrier) { [log] in log.add("before \(number)") }
            center.post(.sample, number: number)
            queue.sync(flags: .barrier) {}
        }
        #expect(log.entries == (1...200).flatMap { ["before \($0)", "\($0)"] })
        withExtendedLifetime(token) {}
    }

    @Test func `D4 work on the main queue runs before a later post's handlers there`()
        async
    {
        let token = center.observe(.sample, on: .main) { [log] in log.add("\($0.number)") }
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { [center, log] in
                onThreads({
                    for number in 1...50 {
                        DispatchQueue.main.async { log.add("before \(number)") }
                        center.post(.sample, number: number)
                    }
                    DispatchQueue.main.async { continuation.resume() }
                })
            }
        }
        #expect(log.entries == (1...50).flatMap { ["before \($0)", "\($0)"] })
        withExtendedLifetime(token) {}
    }

    /// An executor that runs jobs before `enqueue` returns.
    private final class JobsAtOnce: SerialExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            unsafe UnownedJob(job).runSynchronously(on: asUnownedSerialExecutor())
        }
    }

    private actor ActorAtOnce {
        private let executor = JobsAtOnce()

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe executor.asUnownedSerialExecutor()
        }
    }

    @Test func `M3 D2 an actor that runs its job at once comes after the post's other blocks`() {
        let queue = DispatchQueue(label: "BlockTests")
        let actor = ActorAtOnce()
        center.observe(.sample, owner: actor) { [center] (actor: isolated ActorAtOnce, note) in
            if note.number == 1 { center.post(.sample, number: 2) }
        }
        let token = center.observe(.sample, on: .dispatchQueue(queue)) { [log] in
            log.add("\($0.number)")
        }
        center.post(.sample, number: 1)
        queue.settle()
        #expect(log.entries == ["1", "2"])
        withExtendedLifetime((token, actor)) {}
    }

    @Test func `R1 a delivery taken by a block is not made after a cancel in between`() {
        let queue = DispatchQueue(label: "BlockTests")
        let (first, second) = (Box<NotificationObserver?>(nil), Box<NotificationObserver?>(nil))
        first.set(
            center.observe(.sample, on: .dispatchQueue(queue)) { [log] _ in
                log.add("first")
                // Called after the return, when the block has taken the second delivery.
                let isWaiting = HandlerWait.whenReturned(first.value!.registration!.address) {
                    second.value?.cancel()
                }
                #expect(isWaiting)
            })
        second.set(
            center.observe(.sample, on: .dispatchQueue(queue)) { [log] _ in log.add("second") })
        center.post(.sample, number: 1)
        queue.settle()
        #expect(log.entries == ["first"] && second.value?.isActive == false)
        first.set(nil)
    }

    @Test func `D7 with batching no block is submitted while one of the observer waits`() {
        let queue = OperationQueue.serial()
        queue.isSuspended = true
        let token = center.observe(.sample, on: .operationQueue(queue, batching: true)) { [log] in
            log.add("\($0.number)")
        }
        center.post(.sample, number: 1)
        queue.addOperation { [log] in log.add("other work") }
        center.post(.sample, numbers: 2...100)
        #expect(queue.operationCount == 2)
        queue.isSuspended = false
        queue.settle()
        #expect(log.entries == (1...100).map(String.init) + ["other work"])
        withExtendedLifetime(token) {}
    }

    @Test(arguments: [false, true])
    func `D7 a handler that posts to its own queue does not starve it`(batching: Bool) {
        let queue = DispatchQueue(label: "BlockTests")
        let token = center.observe(.sample, on: .dispatchQueue(queue, batching: batching)) {
            [center, log] in
            log.add("\($0.number)")
            if $0.number < 5 { center.post(.sample, number: $0.number + 1) }
        }
        queue.suspend()
        center.post(.sample, number: 1)
        queue.async { [log] in log.add("other work") }
        queue.resume()
        for _ in 0..<6 { queue.settle() }
        #expect(log.entries == ["1", "other work", "2", "3", "4", "5"])
        withExtendedLifetime(token) {}
    }

    @Test func `D3 the target mainAsync is never inline`() async {
        let token = center.observe(.sample, on: .mainAsync) { [log] in log.add("\($0.number)") }
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { [center, log] in
                center.post(.sample, number: 1)
                log.add("posted")
                DispatchQueue.main.async { continuation.resume() }
            }
        }
        #expect(log.entries == ["posted", "1"])
        withExtendedLifetime(token) {}
    }

    @MainActor @Test
    func `P1 D3 mainActorAsync runs main-actor handlers and methods in a later turn`() async {
        @MainActor final class Window {
            var calls: [String] = []

            func changed(_ notification: Notification) { calls.append("changed") }
            func closed() { calls.append("closed") }
        }
        let window = Window()
        let token = center.observe(.sample, on: .mainActorAsync) { note in
            MainActor.assertIsolated()
            window.calls.append("token \(note.number)")
        }
        center.observe(.sample, owner: window, on: .mainActorAsync) { window, note in
            window.calls.append("owner \(note.number)")
        }
        center.connect(.sample, to: Window.changed, of: window, on: .mainActorAsync)
        center.connect(.sample, to: Window.closed, of: window, on: .mainActorAsync)
        center.post(.sample, number: 1)
        #expect(window.calls == [])
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume() }
        }
        #expect(window.calls == ["token 1", "owner 1", "changed", "closed"])
        #expect(center.audit().map(\.target) == Array(repeating: "main, later", count: 4))
        withExtendedLifetime(token) {}
    }

    @Test func `X3 an object that posts itself in userInfo in its deinit is not kept for later`() {
        final class Posts {
            let center: ObserverCenter
            init(_ center: ObserverCenter) { self.center = center }
            deinit {
                center.post(name: .sample, object: self, userInfo: ["self": self, "number": 7])
                center.post(name: .sample, object: nil, userInfo: ["self": self, "number": 8])
            }
        }
        let scheduler = ManualScheduler()
        let token = center.observe(.sample, on: .custom(scheduler)) { [log] notification in
            log.add(
                "\(notification.object == nil) \(notification.userInfo?.count ?? 0) \(notification.number)"
            )
        }
        do { _ = Posts(center) }
        scheduler.runAll()
        #expect(log.entries == ["true 1 7", "true 1 8"])
        withExtendedLifetime(token) {}
    }

    @Test func `D1 posts on two threads run one handler on both at once`() {
        let (center, met) = (center, Log<Bool>())
        let here = [Gate(), Gate()]
        let token = center.observe(.sample) { notification in
            here[notification.number].open()
            met.add(here[1 - notification.number].pass())
        }
        onThreads({ center.post(.sample, number: 0) }, { center.post(.sample, number: 1) })
        #expect(met.entries == [true, true])
        withExtendedLifetime(token) {}
    }
}
