import Foundation
import Testing

@testable import Tether

/// Removal and re-entrancy, on Tether's own center and over Foundation's.
extension StoppingTests {
    @Test(arguments: CenterKind.allCases)
    func `F1 R1 after cancel(), and after the token's deinit, no handler starts`(kind: CenterKind) {
        let (log, center) = (log, kind.makeCenter())
        let stopped = center.observe(.sample) { log.add("stopped \($0.number)") }
        var dropped: NotificationObserver? = center.observe(.sample) {
            log.add("dropped \($0.number)")
        }
        center.post(.sample, number: 1)
        #expect(log.entries.sorted() == ["dropped 1", "stopped 1"])
        stopped.cancel()
        withExtendedLifetime(dropped) {}
        dropped = nil
        center.post(.sample, number: 2)
        #expect(log.entries.count == 2)
        #expect(center.audit().isEmpty)
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 R1 R4 an observer that an earlier handler of the same post stopped is not called`(
        kind: CenterKind
    ) {
        let (log, center) = (log, kind.makeCenter())
        let tokens = Box<[NotificationObserver]>([])
        // Whichever comes first.
        tokens.set(
            (0..<10).map { number in
                center.observe(number % 2 == 0 ? .sample : nil) { _ in
                    log.add("\(number)")
                    for (other, token) in tokens.value.enumerated() where other != number {
                        token.cancel()
                    }
                }
            })
        center.post(.sample)
        #expect(log.entries.count == 1)
        #expect(tokens.value.count { $0.isActive } == 1)
        tokens.set([])
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 R4 an observer that is added during a post is first called by the next one`(
        kind: CenterKind
    ) {
        let (log, center) = (log, kind.makeCenter())
        let added = Box<[NotificationObserver]>([])
        let token = center.observe(.sample) { _ in
            log.add("first")
            guard added.value.isEmpty else { return }
            added.set([nil, .sample].map { center.observe($0) { _ in log.add("added") } })
        }
        center.post(.sample)
        #expect(log.entries == ["first"])
        center.post(.sample)
        #expect(log.entries.sorted() == ["added", "added", "first", "first"])
        withExtendedLifetime(token) { added.set([]) }
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 R1 R8 cancel() drops pending deliveries, handler and payload`(kind: CenterKind) {
        let (log, center, jobs) = (log, kind.makeCenter(), ManualScheduler())
        let token = {
            let captured = Ending { log.add("capture") }
            return center.observe(.sample, on: .custom(jobs)) { _ in captured.touch() }
        }()
        do {
            let payload = Ending { log.add("payload") }
            center.post(name: .sample, object: nil, userInfo: ["payload": payload])
        }
        #expect(log.entries == [])
        token.cancel()
        #expect(log.entries.sorted() == ["capture", "payload"])
        jobs.runAll()
    }

    @Test(arguments: CenterKind.allCases)
    func
        `F1 R8 captures are released before cancel() returns, or at the return of a call under way`(
            kind: CenterKind
        )
    {
        let (log, center) = (log, kind.makeCenter())
        let observe = { () -> NotificationObserver in
            let captured = Ending { log.add("capture") }
            return center.observe(.sample) { note in
                captured.touch()
                (note.object as? NotificationObserver)?.cancel()
                log.add("handler")
            }
        }
        observe().cancel()
        #expect(log.entries == ["capture"])
        let token = observe()
        center.post(.sample, from: token)
        #expect(log.entries == ["capture", "handler", "capture"])
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 R2 cancelAndWait waits for handlers of other threads, not for its own stack's`(
        kind: CenterKind
    ) {
        let (log, center) = (log, kind.makeCenter())
        let (isRunning, mayReturn) = (Latch(), Latch())
        let token = Box<NotificationObserver?>(nil)
        token.set(
            center.observe(.sample) { note in
                if note.number == 1 {
                    isRunning.open()
                    mayReturn.pass()
                } else {
                    // On its own stack; the other thread's is waited for.
                    mayReturn.open()
                    #expect(token.value?.cancelAndWait() == .finished)
                }
                log.add("\(note.number)")
            })
        onThreads(
            { center.post(.sample, number: 1) },
            {
                isRunning.pass()
                center.post(.sample, number: 2)
            })
        #expect(log.entries == ["1", "2"])
        token.set(nil)
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 R3 stopping from many threads, and by stale tokens, touches no other observer`(
        kind: CenterKind
    ) {
        let (log, center) = (log, kind.makeCenter())
        let stale = (0..<100).map { _ in center.observe(.sample) { _ in log.add("stale") } }
        onThreads((0..<4).map { _ in { for token in stale { token.cancel() } } })
        let live = (0..<100).map { _ in center.observe(.sample) { _ in log.add("live") } }
        onThreads((0..<4).map { _ in { for token in stale { token.cancel() } } })
        center.post(.sample)
        #expect(log.entries == Array(repeating: "live", count: 100))
        #expect(live.allSatisfy { $0.isActive })
        withExtendedLifetime(live) {}
    }

    @Test(arguments: CenterKind.allCases)
    func
        `F1 R5 a handler may post, add, remove, stop itself and drop the last reference to an owner`(
            kind: CenterKind
        )
    {
        let (log, center) = (log, kind.makeCenter())
        let owner = Box(optional: LoggedObject("owner", log))
        let tokens = Box<[NotificationObserver]>([])
        center.observe(.other, owner: owner.value!) { _, _ in log.add("owned") }
        tokens.set([
            center.observe(.sample) { [log] note in
                log.add("sample \(note.number)")
                if note.number < 50 { return center.post(.sample, number: note.number + 1) }
                center.post(.other)
                owner.drop()
                tokens.set(tokens.value + [center.observe(.other) { _ in log.add("added") }])
                center.post(.other)
                tokens.value[0].cancel()
                center.removeObservers(named: .other)
                center.post(.other)
            }
        ])
        center.post(.sample)
        #expect(log.entries.prefix(51) == (0...50).map { "sample \($0)" }[...])
        #expect(log.entries.dropFirst(51) == ["owned", "owner deinit", "added"])
        #expect(center.audit().isEmpty)
        tokens.set([])
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 R6 a captured object's deinit may post, register and stop`(kind: CenterKind) {
        let (log, center) = (log, kind.makeCenter())
        let inner = center.observe(.other) { log.add("other \($0.number)") }
        let added = Box<NotificationObserver?>(nil)
        let token = {
            let captured = Ending {
                center.post(.other, number: 1)
                added.set(center.observe(.other) { log.add("added \($0.number)") })
                inner.cancel()
                center.post(.other, number: 2)
            }
            return center.observe(.sample) { _ in captured.touch() }
        }()
        token.cancel()
        #expect(log.entries == ["other 1", "added 2"])
        added.set(nil)
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 R7 once runs once under nested and concurrent posts`(kind: CenterKind) {
        let (log, center) = (log, kind.makeCenter())
        for _ in 0..<100 {
            let token = center.observe(.sample, once: true) { note in
                log.add("once")
                center.post(.sample)
            }
            center.post(.other)
            #expect(token.isActive)
            onThreads({ center.post(.sample) }, { center.post(.sample) }, { center.post(.sample) })
            #expect(!token.isActive)
        }
        #expect(log.entries.count == 100)
        #expect(center.audit().isEmpty)
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 R7 a once observer that is stopped while it is enqueued does not run`(kind: CenterKind)
    {
        let (log, center, jobs) = (log, kind.makeCenter(), ManualScheduler())
        let (stopped, run) = (
            center.observe(.sample, on: .custom(jobs), once: true) { _ in log.add("stopped") },
            center.observe(.sample, on: .custom(jobs), once: true) { _ in log.add("run") }
        )
        for _ in 0..<3 { center.post(.sample) }
        stopped.cancel()
        jobs.runAll()
        #expect(log.entries == ["run"])
        #expect(!run.isActive)
    }
}
