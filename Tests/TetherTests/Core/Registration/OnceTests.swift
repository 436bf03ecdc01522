import Foundation
import Synchronization
import Testing

@testable import Tether

/// Observers that run once.
@Suite(.ownThread) struct OnceTests {
    private final class Object: Sendable {}

    private let center = ObserverCenter()
    private let log = Log<String>()

    @Test func `R7 a once observer runs once, and has then ended`() {
        let log = log
        let token = center.observe(.sample, once: true) { _ in log.add("called") }
        #expect(token.isActive)
        center.post(name: .sample, object: nil)
        #expect(!token.isActive)
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["called"])
        #expect(center.core.isEmpty)
    }

    @Test func `R7 posts nested in its handler do not run it again`() {
        let (log, center) = (log, center)
        let token = center.observe(.sample, once: true) { _ in
            log.add("begins")
            for _ in 0..<3 { center.post(name: .sample, object: nil) }
            log.add("ends")
        }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["begins", "ends"])
        withExtendedLifetime(token) {}
    }

    @Test func `R7 a post nested in an earlier handler runs it, and the outer post then does not`() {
        let (log, center) = (log, center)
        let posting = center.observe(.sample, once: true) { _ in center.post(name: .sample, object: "nested") }
        let token = center.observe(.sample, once: true) { note in log.add("\(note.object ?? "outer")") }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["nested"])
        withExtendedLifetime((posting, token)) {}
    }

    @Test func `R7 posts that do not match do not use it up`() {
        let (log, sender) = (log, Object())
        let token = center.observe(.sample, from: sender, once: true) { _ in log.add("called") }
        center.post(name: .other, object: sender)
        center.post(name: .sample, object: nil)
        center.post(name: .sample, object: Object())
        ObserverCenter().post(name: .sample, object: sender)
        #expect(token.isActive)
        center.post(name: .sample, object: sender)
        #expect(log.entries == ["called"])
        withExtendedLifetime((token, sender)) {}
    }

    @Test func `R7 under concurrent posts it runs exactly once`() {
        let center = center
        for _ in 0..<100 {
            let calls = Atomic<Int>(0)
            let token = center.observe(.sample, once: true) { _ in calls.add(1, ordering: .relaxed) }
            Crew.run(3) { _ in for _ in 0..<5 { center.post(name: .sample, object: nil) } }
            #expect(calls.load(ordering: .relaxed) == 1)
            withExtendedLifetime(token) {}
        }
        #expect(center.core.isEmpty)
    }

    @Test func `R7 a post on another thread while its handler runs does not run it again`() {
        let (center, calls) = (center, Log<Int>())
        let (isRunning, mayReturn) = (Latch(), Latch())
        let token = center.observe(.sample, once: true) { note in
            calls.add(note.number)
            // A second call would have nobody to let it go on.
            guard note.number == 1 else { return }
            isRunning.open()
            mayReturn.wait()
        }
        allAtOnce(
            { center.post(.sample, number: 1) },
            {
                isRunning.wait()
                center.post(.sample, number: 2)
                mayReturn.open()
            })
        #expect(calls.entries == [1])
        #expect(center.core.isEmpty)
        withExtendedLifetime(token) {}
    }

    @Test func `R7 posted many times before its target runs, it runs once, with the first`() {
        let (log, jobs) = (log, HeldJobs())
        let token = center.observe(.sample, on: .custom(jobs), once: true) { note in log.add("\(note.object ?? "none")")
        }
        for number in 1...3 { center.post(name: .sample, object: number) }
        #expect(token.isActive)
        jobs.run()
        center.post(name: .sample, object: 4)
        jobs.run()
        #expect(log.entries == ["1"])
        #expect(!token.isActive)
        #expect(center.core.isEmpty)
    }

    @Test func `R7 stopped while enqueued it does not run`() {
        let (log, jobs) = (log, HeldJobs())
        let token = center.observe(.sample, on: .custom(jobs), once: true) { _ in log.add("called") }
        center.post(name: .sample, object: nil)
        token.cancel()
        jobs.run()
        #expect(log.entries == [])
    }

    @Test func `R7 a delivery dropped by its target uses it up`() {
        let (log, jobs) = (log, HeldJobs())
        let token = center.observe(.sample, on: .custom(jobs), once: true) { _ in log.add("called") }
        center.post(name: .sample, object: nil)
        jobs.drop()
        #expect(!token.isActive)
        center.post(name: .sample, object: nil)
        jobs.run()
        #expect(log.entries == [])
        #expect(center.core.isEmpty)
    }

    @Test func `R7 R5 it may stop itself, and drop its own token`() {
        let (log, holder) = (log, SharedHolder<NotificationObserver>())
        holder.set(
            center.observe(.sample, once: true) { _ in
                log.add("called")
                holder.value?.cancel()
                holder.drop()
            })
        center.post(name: .sample, object: nil)
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["called"])
        #expect(center.core.isEmpty)
    }

    @Test func `R7 R8 what it captured is released when its post ends`() {
        let log = log
        let token = {
            let captured = Ending { log.add("released") }
            return center.observe(.sample, once: true) { _ in
                captured.touch()
                log.add("called")
            }
        }()
        let later = center.observe(.sample) { _ in log.add("later") }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["called", "later", "released"])
        withExtendedLifetime((token, later)) {}
    }

    @Test func `R7 O3 a once observer with an owner that goes first does not run`() {
        let (log, owner) = (log, SharedHolder(Object()))
        let token = center.observe(.sample, owner: owner.value!, once: true) { _, _ in log.add("called") }
        owner.drop()
        center.post(name: .sample, object: nil)
        #expect(log.entries == [])
        #expect(!token.isActive)
    }
}
