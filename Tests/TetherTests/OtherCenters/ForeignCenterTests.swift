import Dispatch
import Foundation
import Testing

@testable import Tether

@Suite(.ownThread) struct ForeignCenterTests {
    private let center = SmallCenter()

    @Test func `F1 a token's observer on a foreign center is called until it is stopped`() {
        let log = Log<Int>()
        let token = center.observe(.sample) { log.add($0.number) }
        center.post(.sample, number: 1)
        center.post(.other, number: 2)
        #expect(token.isActive)
        token.cancel()
        center.post(.sample, number: 3)
        #expect(log.entries == [1])
        #expect(!token.isActive)
        center.waitForCancellations(1)
        #expect(center.count == 0)
    }

    @Test func `F1 any name and a sender reach the foreign center's matching`() {
        let log = Log<String>()
        let sender = Ending {}
        let other = Ending {}
        let tokens = [
            center.observe(nil) { log.add("any name \($0.number)") },
            center.observe(.sample, from: sender) { log.add("sender \($0.number)") },
        ]
        center.post(.sample, from: sender, number: 1)
        center.post(.sample, from: other, number: 2)
        center.post(.other, from: sender, number: 3)
        #expect(log.entries == ["any name 1", "sender 1", "any name 2", "any name 3"])
        withExtendedLifetime((tokens, sender, other)) {}
    }

    @Test func `F1 O3 an owner's observers end before its deinit, captures released`() {
        let log = Log<String>()
        do {
            let owner = Ending { log.add("deinit") }
            observe(for: owner, log: log)
            center.observe(.sample, owner: owner) { log.add("kept \($1.number)") }
            center.post(.sample, number: 1)
            withExtendedLifetime(owner) {}
        }
        center.post(.sample, number: 2)
        let end = ["capture", "deinit"]
        #expect(log.entries == ["handed 1", "kept 1"] + (endsFollowDeinit ? end.reversed() : end))
        center.waitForCancellations(2)
        #expect(center.count == 0)
        #expect(center.audit().isEmpty)
    }

    private func observe(for owner: Ending, log: Log<String>) {
        let capture = Ending { log.add("capture") }
        center.observe(.sample, owner: owner) { owner, notification in
            owner.touch()
            capture.touch()
            log.add("handed \(notification.number)")
        }
    }

    @Test func `F1 M5 a sender that goes ends its observers`() {
        let log = Log<Int>()
        let token: NotificationObserver
        do {
            let sender = Ending {}
            token = center.observe(.sample, from: sender) { log.add($0.number) }
            center.post(.sample, from: sender, number: 1)
            withExtendedLifetime(sender) {}
        }
        #expect(!token.isActive)
        #expect(log.entries == [1])
        center.waitForCancellations(1)
        #expect(center.count == 0)
    }

    @Test func `F1 R7 once runs once, and its registration is cancelled once`() {
        let log = Log<Int>()
        let token = center.observe(.sample, once: true) { [center] notification in
            log.add(notification.number)
            center.post(.sample, number: 2)
        }
        center.post(.sample, number: 1)
        center.post(.sample, number: 3)
        #expect(log.entries == [1])
        #expect(!token.isActive)
        token.cancel()
        center.waitForCancellations(1)
        #expect(center.cancelled == [1])
    }

    @Test func `F1 M7 a second observer with one key replaces the first`() {
        let log = Log<String>()
        let owner = Ending {}
        let first = center.observe(.sample, key: "key") { _ in log.add("first") }
        let second = center.observe(.sample, key: "key") { _ in log.add("second") }
        center.observe(.sample, owner: owner, key: "key") { _, _ in log.add("owned") }
        #expect(!first.isActive)
        center.post(.sample)
        #expect(log.entries == ["second", "owned"])
        // The second has the first one's closure; a third of another name has its own.
        #expect(center.registered == 2 && center.count == 2)
        let third = center.observe(.other, key: "key") { _ in log.add("third") }
        center.post(.other)
        #expect(!second.isActive)
        #expect(log.entries == ["second", "owned", "third"])
        center.waitForCancellations(1)
        #expect(center.cancelled == [1])
        withExtendedLifetime((third, owner)) {}
    }

    @Test func `F1 D2 D6 targets, order and switches hold`() {
        let log = Log<String>()
        let scheduler = ManualScheduler()
        let tokens = [
            center.observe(.sample, on: .custom(scheduler)) { log.add("open\($0.number)") },
            center.observe(.other, on: .custom(scheduler)) { log.add("close\($0.number)") },
        ]
        for number in 1...2 {
            center.post(.sample, number: number)
            center.post(.other, number: number)
        }
        #expect(scheduler.scheduled == 4)
        #expect(center.audit().map(\.pending) == [2, 2])
        scheduler.runAll()
        #expect(log.entries == ["open1", "close1", "open2", "close2"])
        center.post(.sample, number: 3)
        tokens[0].target = .postingThread
        scheduler.runAll()
        center.post(.sample, number: 4)
        #expect(log.entries.suffix(2) == ["open3", "open4"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `F1 R1 R8 what was enqueued is dropped at stop`() {
        let log = Log<String>()
        let scheduler = ManualScheduler()
        let token: NotificationObserver
        do {
            let capture = Ending { log.add("capture") }
            token = center.observe(.sample, on: .custom(scheduler)) { _ in capture.touch() }
        }
        center.post(.sample)
        token.cancel()
        #expect(log.entries == ["capture"])
        scheduler.runAll()
        center.waitForCancellations(1)
    }

    @Test func `F1 R2 cancelAndWait waits for a handler on another thread`() {
        let log = Log<String>()
        let isRunning = Gate()
        let token = Box<NotificationObserver?>(nil)
        token.set(
            center.observe(.sample) { _ in
                isRunning.open()
                while token.value?.isActive == true { sched_yield() }
                for _ in 0..<100 { sched_yield() }
                log.add("returned")
            })
        onThreads(
            { [center] in center.post(.sample) },
            {
                isRunning.pass()
                token.value?.cancelAndWait()
                log.add("stopped")
            })
        #expect(log.entries == ["returned", "stopped"])
        token.set(nil)
    }

    @Test func `F1 R9 removeObservers ends what matches, and no other`() {
        let log = Log<String>()
        let owner = Ending {}
        let sender = Ending {}
        let tokens = [
            center.observe(.sample) { _ in log.add("sample") },
            center.observe(.sample, from: sender) { _ in log.add("sender") },
            center.observe(.sample, owner: owner) { _, _ in log.add("owner") },
            center.observe(.other) { _ in log.add("other") },
        ]
        center.removeObservers(from: sender)
        #expect(tokens.map(\.isActive) == [true, false, true, true])
        center.removeObservers(owner: owner)
        #expect(tokens.map(\.isActive) == [true, false, false, true])
        center.removeObservers(named: .sample)
        #expect(tokens.map(\.isActive) == [false, false, false, true])
        center.post(.sample, from: sender)
        center.post(.other)
        #expect(log.entries == ["other"])
        center.waitForCancellations(3)
        #expect(center.cancelled.sorted() == [1, 2, 3])
        withExtendedLifetime((tokens, owner, sender)) {}
    }

    @Test func `F1 L1 the audit tells who observes what, for whom and where`() {
        let owner = Ending {}
        let scheduler = ManualScheduler()
        let line = UInt(#line) + 1
        let token = center.observe(.sample, on: .custom(scheduler), once: true, key: "key") { _ in }
        center.observe(nil, owner: owner) { _, _ in }
        center.post(.sample)
        let rows = center.audit().rows
        #expect(rows.count == 2)
        #expect(rows[0].name == .sample)
        #expect(rows[0].owner == nil)
        #expect(rows[0].line == Int(line))
        #expect(rows[0].target == "custom ManualScheduler")
        #expect(rows[0].pending == 1)
        #expect(rows[0].isOnce)
        #expect(rows[0].key == "\"key\"")
        #expect(rows[1].name == nil)
        #expect(rows[1].owner?.hasPrefix("Ending 0x") == true)
        #expect(OwnerObservers(of: owner).count == 1)
        withExtendedLifetime((token, owner)) {}
    }

    @Test func `F1 P1 R5 the property form configures one observer again and again`() {
        let log = Log<String>()
        let scheduler = ManualScheduler()
        let observer = NotificationObserver(center: center)
        observer.observe(.sample, on: .custom(scheduler)) { _ in log.add("first") }
        center.post(.sample)
        observer.observe(.sample, on: .custom(scheduler)) { _ in log.add("second") }
        center.post(.sample)
        scheduler.runAll()
        #expect(log.entries == ["second"])
        // The same posts call it, so it takes the closure over.
        #expect(center.registered == 1)
        observer.observe(.other, on: .custom(scheduler)) { _ in log.add("third") }
        observer.cancel()
        center.waitForCancellations(2)
        #expect(center.cancelled.sorted() == [1, 2])
    }
}
