import Foundation
import Testing

@testable import Tether

/// The effect of an observer's end on posts of the same thread.
@Suite(.ownThread) struct StoppingTests {
    private final class Object: Sendable {}

    private let center = ObserverCenter()
    let log = Log<String>()

    /// The causes of an observer's end while the token is kept.
    enum End: CaseIterable, Sendable {
        case stop, removeToken, removeTokenForName, removeByName, removeBySender, removeByOwner,
            removeOwner
        case removeAll, stopAll, cancelAndWait, ownerGoes, senderGoes, replaced

        /// A notification retains its object, so a sender outlives its own posts.
        static let duringPosts = allCases.filter { $0 != .senderGoes }
    }

    /// An observer of the sample name that each of those causes can end.
    private struct Subject: Sendable {
        let owner = Box(optional: Object())
        let sender = Box(optional: Object())
        let token: NotificationObserver
        let replacement = Box<NotificationObserver?>()
        let center: ObserverCenter

        init(
            _ center: ObserverCenter, on target: DeliveryTarget = .postingThread,
            _ handler: @escaping @Sendable () -> Void
        ) {
            self.center = center
            token = center.observe(
                .sample, from: sender.value!, owner: owner.value!, on: target, key: 1
            ) { _, _ in handler() }
        }

        func post() { center.post(name: .sample, object: sender.value) }

        func end(_ end: End) {
            switch end {
            case .stop: token.cancel()
            case .cancelAndWait: token.cancelAndWait()
            case .removeToken: center.removeObserver(token)
            case .removeTokenForName:
                center.removeObserver(token, name: .sample, object: sender.value)
            case .removeByName: center.removeObservers(named: .sample)
            case .removeBySender: center.removeObservers(from: sender.value!)
            case .removeByOwner: center.removeObservers(owner: owner.value!)
            case .removeOwner: center.removeObserver(owner.value!)
            case .removeAll: center.removeAllObservers()
            case .stopAll: OwnerObservers(of: owner.value!).cancel()
            case .ownerGoes: owner.drop()
            case .senderGoes: sender.drop()
            case .replaced:
                replacement.set(center.observe(.other, owner: owner.value!, key: 1) { _, _ in })
            }
        }
    }

    @Test(arguments: End.allCases) func `R1 no post calls an observer that has ended`(end: End) {
        let log = log
        let subject = Subject(center) { log.add("called") }
        subject.post()
        #expect(log.entries == ["called"])
        subject.end(end)
        #expect(!subject.token.isActive)
        subject.post()
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["called"])
        subject.replacement.drop()
        subject.owner.drop()
        #expect(center.core.isEmpty)
    }

    @Test(arguments: End.duringPosts)
    func `R1 R4 an observer that an earlier handler of the same post ended is not called`(end: End)
    {
        let (log, subject) = (log, Box<Subject?>())
        let ending = center.observe(nil, once: true) { _ in
            log.add("ending")
            subject.value!.end(end)
        }
        subject.set(Subject(center) { log.add("called") })
        let last = center.observe(.sample, key: "last") { _ in log.add("last") }
        subject.value!.post()
        // Bulk removal by name, and of all, ends the last observer too.
        let expected = [.removeByName, .removeAll].contains(end) ? ["ending"] : ["ending", "last"]
        #expect(log.entries == expected)
        withExtendedLifetime((ending, last)) { subject.drop() }
    }

    @Test(arguments: End.duringPosts)
    func `R1 an observer that ended while a delivery was enqueued is not called`(end: End) {
        let (log, jobs) = (log, ManualScheduler())
        let subject = Subject(center, on: .custom(jobs)) { log.add("called") }
        subject.post()
        subject.post()
        #expect(jobs.waiting == 2)
        subject.end(end)
        while jobs.waiting > 0 { jobs.runAll() }
        #expect(log.entries == [])
    }

    @Test func `R3 M5 a second cancellation during a post ends no other observer's watch`() {
        let sender = Box(optional: Object())
        let (stopped, other) = (
            center.observe(.sample, from: sender.value!) { _ in },
            center.observe(.sample, from: sender.value!) { _ in }
        )
        let stopping = center.observe(.other) { _ in for _ in 0..<3 { stopped.cancel() } }
        center.post(name: .other, object: nil)
        #expect(other.isActive)
        sender.drop()
        #expect(!other.isActive)
        #expect(center.core.count == 1)
        withExtendedLifetime(stopping) {}
    }

    @Test func `R3 ids are never used again`() throws {
        var last: UInt64 = 0
        for _ in 0..<100 {
            let token = center.observe(.sample) { _ in }
            let id = try #require(token.registration).id
            #expect(id > last)
            last = id
        }
    }

    @Test func `R4 removals and additions during a post disturb none of the others`() {
        let (log, center) = (log, center)
        let tokens = Box<[NotificationObserver]?>([])
        let churning = center.observe(.sample) { _ in
            // Every other observer ends. The center then removes their slots during the post.
            for token in tokens.value!.enumerated() where token.offset % 2 == 0 {
                token.element.cancel()
            }
            for _ in 0..<50 { center.observe(.sample) { _ in log.add("brief") }.cancel() }
        }
        tokens.set(
            (0..<100).map { number in center.observe(.sample) { _ in log.add("\(number)") } })
        center.post(name: .sample, object: nil)
        #expect(log.entries == (0..<100).filter { $0 % 2 == 1 }.map(String.init))
        withExtendedLifetime(churning) { tokens.drop() }
    }
}

// MARK: Every kind of center

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
    func `F1 R1 R4 an observer that an earlier handler of the post cancelled is not called`(
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
    func `F1 R4 an observer added during a post is first called by the next post`(
        kind: CenterKind
    ) {
        let (log, center) = (log, kind.makeCenter())
        let last = Box<NotificationObserver?>()
        let added = Box<[NotificationObserver]>([])
        let first = center.observe(.sample) { _ in
            log.add("first")
            // Frees the slot of the last observer, which is among the slots that the post reads.
            last.drop()
            guard added.value.isEmpty else { return }
            added.set([nil, .sample].map { center.observe($0) { _ in log.add("added") } })
        }
        last.set(center.observe(.sample) { _ in log.add("last") })
        center.post(.sample)
        #expect(log.entries.filter { $0 != "last" } == ["first"])
        center.post(.sample)
        #expect(
            log.entries.filter { $0 != "last" }.sorted() == ["added", "added", "first", "first"])
        withExtendedLifetime(first) { added.set([]) }
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
    func `F1 R8 captures are released before cancel() or a call under way returns`(
        kind: CenterKind
    ) {
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
                    // A handler does not wait for its own call, only for the other thread's.
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
    func `F1 R3 cancelling on many threads and by stale tokens affects no other observer`(
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
    func `F1 R5 a handler may post, add, remove, cancel itself and drop its last owner`(
        kind: CenterKind
    ) {
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
    func `F1 R6 a captured object's deinit may post, register and cancel`(kind: CenterKind) {
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
    func `F1 R7 a once observer cancelled with a pending delivery does not run`(
        kind: CenterKind
    ) {
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
