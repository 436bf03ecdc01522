import Dispatch
import Foundation
import Testing

@testable import Tether

/// What Foundation's center does on Linux and ours must not, each defect by its own test.
@Suite(.ownThread) struct FoundationCenterTests {
    private final class Object: Sendable {}
    private struct Value: Hashable, Sendable { let id: Int }
    private enum Case: Hashable, Sendable { case one, two }

    private let center = ObserverCenter()
    private let log = Log<String>()

    @Test func `R6 a captured object that unregisters and posts in its deinit, released by a removal, is no deadlock`()
    {
        let (log, center) = (log, center)
        let inner = center.addObserver(forName: .other, object: nil, queue: nil) { _ in log.add("posted") }
        let token = {
            let captured = Ending {
                center.post(name: .other, object: nil)
                center.removeObserver(inner)
                center.post(name: .other, object: nil)
                log.add("released")
            }
            return center.addObserver(forName: .sample, object: nil, queue: nil) { _ in captured.touch() }
        }()
        center.removeObserver(token)
        #expect(log.entries == ["posted", "released"])
        #expect(center.core.isEmpty)
    }

    @Test func `R3 M8 removing a token twice, or through another center, removes no other observer`() {
        let (log, other) = (log, ObserverCenter())
        let foreign = other.addObserver(forName: .sample, object: nil, queue: nil) { _ in }
        let removed = (0..<20).map { _ in center.addObserver(forName: .sample, object: nil, queue: nil) { _ in } }
        removed.forEach(center.removeObserver)
        let live = (0..<20).map { _ in
            center.addObserver(forName: .sample, object: nil, queue: nil) { _ in log.add("live") }
        }
        removed.forEach(center.removeObserver)
        removed.forEach(other.removeObserver)
        live.forEach(other.removeObserver)
        center.removeObserver(foreign)
        center.post(name: .sample, object: nil)
        #expect(log.entries.count == 20)
        #expect(foreign.isActive)
        withExtendedLifetime(live) {}
    }

    @Test func `M5 new objects at a dead sender's address are strangers`() {
        let log = log
        var tokens: [NotificationObserver] = []
        for _ in 0..<1_000 {
            do {
                let sender = Object()
                tokens.append(
                    center.addObserver(forName: .sample, object: sender, queue: nil) { _ in log.add("delivered") })
            }
            center.post(name: .sample, object: Object())
        }
        #expect(log.entries == [])
        #expect(tokens.allSatisfy { !$0.isActive })
    }

    @Test func `M3 delivery is in registration order, whatever the kinds`() {
        let (log, sender) = (log, Object())
        let tokens = (0..<100).map { number in
            center.addObserver(
                forName: number % 2 == 0 ? nil : .sample, object: number % 3 == 0 ? sender : nil, queue: nil
            ) { _ in log.add("\(number)") }
        }
        center.post(name: .sample, object: sender)
        #expect(log.entries == (0..<100).map(String.init))
        withExtendedLifetime((tokens, sender)) {}
    }

    @Test func `R4 an observer that an earlier handler of the same post removed is not called`() {
        let (log, center, second) = (log, center, SharedHolder<NotificationObserver>())
        let first = center.addObserver(forName: .sample, object: nil, queue: nil) { _ in
            log.add("first")
            center.removeObserver(second.value as Any)
        }
        second.set(center.addObserver(forName: .sample, object: nil, queue: nil) { _ in log.add("second") })
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["first"])
        withExtendedLifetime(first) { second.drop() }
    }

    @Test func `D2 a post does not wait for a queue's unrelated work, nor for one that is suspended`() {
        let (log, queue, gate) = (log, OperationQueue(), Turnstile())
        queue.maxConcurrentOperationCount = 1
        queue.addOperation {
            gate.pass()
            log.add("unrelated work ends")
        }
        let suspended = OperationQueue()
        suspended.isSuspended = true
        let tokens = [queue, suspended].map { queue in
            center.addObserver(forName: .sample, object: nil, queue: queue) { _ in log.add("called") }
        }
        center.post(name: .sample, object: nil)
        log.add("post ends")
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["post ends", "unrelated work ends", "called"])
        // Foundation never frees a suspended queue with something pending.
        suspended.isSuspended = false
        suspended.waitUntilAllOperationsAreFinished()
        #expect(log.entries.last == "called" && log.entries.count == 4)
        withExtendedLifetime(tokens) {}
    }

    @Test func `D2 a handler that posts to its own serial queue, and two queues that post to each other, do not hang`()
    {
        let (log, center, done) = (log, center, Turnstile())
        let queues = (0..<2).map { _ in
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            return queue
        }
        let tokens = [
            center.addObserver(forName: .sample, object: nil, queue: queues[0]) { note in
                guard let count = note.object as? Int else { return }
                log.add("\(count)")
                // To itself, and to the other queue.
                if count > 0 { center.post(name: count % 2 == 0 ? .sample : .other, object: count - 1) }
                if count == 0 { done.open() }
            },
            center.addObserver(forName: .other, object: nil, queue: queues[1]) { note in
                guard let count = note.object as? Int else { return }
                log.add("other \(count)")
                center.post(name: .sample, object: count)
            },
        ]
        center.post(name: .sample, object: 4)
        done.pass()
        #expect(log.entries == ["4", "3", "other 2", "2", "1", "other 0", "0"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `D2 a post from the underlying queue of the target's queue does not hang`() {
        let (log, center, done) = (log, center, Turnstile())
        let underlying = DispatchQueue(label: "underlying")
        let queue = OperationQueue()
        // SAFETY: the queue does not keep its underlying queue; this test does.
        unsafe queue.underlyingQueue = underlying
        let token = center.addObserver(forName: .sample, object: nil, queue: queue) { _ in
            log.add("called")
            done.open()
        }
        underlying.sync {
            center.post(name: .sample, object: nil)
            log.add("post ends")
        }
        done.pass()
        #expect(log.entries == ["post ends", "called"])
        withExtendedLifetime((token, underlying)) {}
    }

    @Test func `D2 a queue that nobody else keeps is kept, and delivers`() {
        let (log, done) = (log, Turnstile())
        let token = SharedHolder<NotificationObserver>()
        do {
            let queue = OperationQueue()
            token.set(
                center.addObserver(forName: .sample, object: nil, queue: queue) { _ in
                    log.add("called")
                    done.open()
                })
        }
        center.post(name: .sample, object: nil)
        done.pass()
        #expect(log.entries == ["called"])
        token.drop()
    }

    @Test func `R1 M9 dropping a block observer's token ends it`() {
        let log = log
        for _ in 0..<100 {
            _ = center.addObserver(forName: .sample, object: nil, queue: nil) { _ in log.add("called") }
        }
        center.post(name: .sample, object: nil)
        #expect(log.entries == [])
        #expect(center.core.isEmpty)
    }

    @Test func `M4 strings, structs, enums and large integers match as senders`() {
        let log = log
        let senders: [any Hashable & Sendable] = ["a string", Value(id: 1), Case.two, Int.max, UInt64.max, 1.5]
        let tokens = senders.enumerated().map { index, sender in
            center.addObserver(forName: .sample, object: sender, queue: nil) { _ in log.add("\(index)") }
        }
        for sender in senders { center.post(name: .sample, object: sender) }
        center.post(name: .sample, object: ["a", " string"].joined())
        center.post(name: .sample, object: Value(id: 2))
        center.post(name: .sample, object: Case.one)
        #expect(log.entries == ["0", "1", "2", "3", "4", "5", "0"])
        withExtendedLifetime(tokens) {}
    }
}
