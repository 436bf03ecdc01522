import Foundation
import Testing

@testable import Tether

/// The effect of an observer's end on posts of the same thread.
@Suite(.ownThread) struct StoppingTests {
    private let center = ObserverCenter()
    let log = Log<String>()

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
}
