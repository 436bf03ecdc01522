import Dispatch
import Foundation
import Testing
import Tether

/// Delivery targets, on Tether's own center and over Foundation's.
@Suite(.ownThread) struct DeliveryTests {
    private let log = Log<String>()

    @Test(arguments: CenterKind.allCases)
    func `F1 D1 by default a handler runs on the posting thread, inside the post`(kind: CenterKind)
    {
        let (log, center, postingThread) = (log, kind.makeCenter(), Box<ObjectIdentifier?>(nil))
        let token = center.observe(.sample) { _ in
            log.add(
                postingThread.value == ObjectIdentifier(Thread.current)
                    ? "on the posting thread" : "elsewhere")
        }
        for _ in 0..<2 {
            onThreads({
                postingThread.set(ObjectIdentifier(Thread.current))
                center.post(.sample)
                log.add("posted")
            })
        }
        #expect(
            log.entries == ["on the posting thread", "posted", "on the posting thread", "posted"])
        withExtendedLifetime(token) {}
    }

    @Test(arguments: CenterKind.allCases, TargetKind.allCases)
    func `F1 D1 D2 a handler runs on its target in order, for every posting thread`(
        kind: CenterKind, target: TargetKind
    ) async {
        let center = kind.makeCenter()
        let log = log
        let owner = Plain()
        let (token, settle) = await onPlace(target) { place in
            center.observe(.sample, owner: owner, on: place.target) { [weak place] _, note in
                log.add("\(note.number) \(place?.isCurrent == true)")
            }
        } post: {
            for number in 1...3 { center.post(.sample, number: number) }
        }
        await settle()
        #expect(log.entries == ["1 true", "2 true", "3 true"])
        #expect(token.isActive)
        #expect(center.audit().map(\.pending) == [0])
        withExtendedLifetime(owner) {}
    }

    /// Observes and posts on the same thread, which is then the posting thread.
    private func onPlace(
        _ kind: TargetKind, _ observe: @escaping @Sendable (TargetPlace) -> NotificationObserver,
        post: @escaping @Sendable () -> Void
    ) async -> (NotificationObserver, settle: () async -> Void) {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let place = kind.makePlace()
                let token = observe(place)
                post()
                continuation.resume(
                    returning: (token, { if kind != .postingThread { await place.settle() } }))
            }
        }
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 D2 a post waits for no suspended queue nor its own, and keeps the queue`(
        kind: CenterKind
    ) {
        let (log, center, done) = (log, kind.makeCenter(), Latch())
        let own = DispatchQueue(label: "own")
        weak var kept: OperationQueue?
        let tokens: [NotificationObserver] = {
            let suspended = OperationQueue.serial()
            suspended.isSuspended = true
            kept = suspended
            return [
                center.observe(.sample, on: .operationQueue(suspended)) { _ in
                    log.add("suspended")
                    done.open()
                },
                center.observe(.sample, on: .dispatchQueue(own)) { _ in log.add("own") },
            ]
        }()
        own.sync {
            center.post(.sample)
            log.add("posted")
        }
        own.settle()
        #expect(log.entries == ["posted", "own"])
        kept?.isSuspended = false
        done.pass()
        #expect(log.entries == ["posted", "own", "suspended"])
        withExtendedLifetime(tokens) {}
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 D3 D4 a post on the main queue is behind pending ones, by any main target`(
        kind: CenterKind
    )
        async
    {
        let (log, center) = (log, kind.makeCenter())
        let tokens = [DeliveryTarget.main, .dispatchQueue(.main), .operationQueue(.main)]
            .enumerated().map {
                index, main in
                center.observe(Notification.Name("\(index)"), on: main) {
                    log.add("\(index) \($0.number)")
                }
            }
        let post: @Sendable (Int) -> Void = { number in
            for index in 0..<3 { center.post(Notification.Name("\(index)"), number: number) }
        }
        let seen = await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                onThreads({ post(1) })
                post(2)
                continuation.resume(returning: log.entries)
            }
        }
        #expect(seen == [])
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == ["0 1", "1 1", "2 1", "0 2", "1 2", "2 2"])
        withExtendedLifetime(tokens) {}
    }

    @Test(arguments: CenterKind.allCases, TargetKind.asynchronous)
    func `F1 D4 deliveries from one posting thread keep its order across observers`(
        kind: CenterKind, target: TargetKind
    ) async {
        let (log, center, place) = (log, kind.makeCenter(), target.makePlace())
        let tokens = [Notification.Name.sample, .other].map { name in
            center.observe(name, on: place.target) { log.add("\($0.name.rawValue) \($0.number)") }
        }
        onThreads({
            for number in 0..<100 {
                center.post(number % 3 == 0 ? .sample : .other, number: number)
            }
        })
        await place.settle()
        #expect(log.entries == (0..<100).map { "\($0 % 3 == 0 ? "sample" : "other") \($0)" })
        withExtendedLifetime(tokens) {}
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 D5 deliveries to an exited thread are dropped, counted, their payload freed`(
        kind: CenterKind
    ) {
        let (log, center) = (log, kind.makeCenter())
        let thread = RunLoopThread(name: "worker")
        let token = center.observe(.sample, on: .thread(thread)) { log.add("\($0.number)") }
        center.post(.sample, number: 1)
        #expect(center.audit().map(\.pending) == [1])
        let isDone = center.observe(.other, on: .thread(thread)) { _ in Thread.current.cancel() }
        center.post(.other)
        thread.start()
        let limit = Date(timeIntervalSinceNow: longestWait)
        while !thread.isFinished, limit.timeIntervalSinceNow > 0 { sched_yield() }
        do {
            let payload = Ending { log.add("payload") }
            center.post(name: .sample, object: nil, userInfo: ["payload": payload])
        }
        #expect(log.entries == ["1", "payload"])
        #expect(center.audit().first { $0.name == .sample }?.dropped == 1)
        withExtendedLifetime((token, isDone)) {}
    }

    @Test(arguments: CenterKind.allCases, TargetKind.asynchronous)
    func `F1 D6 posts before a switch are delivered before posts after it`(
        kind: CenterKind, target: TargetKind
    ) async {
        let (log, center, place, jobs) = (
            log, kind.makeCenter(), target.makePlace(), ManualScheduler()
        )
        let token = center.observe(.sample, on: .custom(jobs)) { [weak place] in
            log.add("\($0.number) \(place?.isCurrent == true)")
        }
        onThreads({
            for number in 1...2 { center.post(.sample, number: number) }
            token.target = place.target
            for number in 3...4 { center.post(.sample, number: number) }
        })
        jobs.runAll()
        await place.settle()
        #expect(log.entries == (1...4).map { "\($0) true" })
        withExtendedLifetime(token) {}
    }
}
