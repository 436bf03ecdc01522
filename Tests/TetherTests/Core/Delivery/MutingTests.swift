import Foundation
import Testing
import Tether

/// Muting by an observer's token.
@Suite(.ownThread) struct MutingTests {
    private let center = ObserverCenter()
    private let scheduler = ManualScheduler()
    private let log = Log<Int>()
    private let ended = Log<Int>()

    private func observe(on target: DeliveryTarget = .postingThread) -> NotificationObserver {
        center.observe(.sample, on: target) { [log] in log.add($0.number) }
    }

    @Test func `D9 an observer is muted while a closure runs, also a throwing closure`() {
        struct Thrown: Error {}
        let (log, center) = (log, center)
        let token = center.observe(.sample) { log.add($0.number) }
        let isMuted = token.muted {
            center.post(.sample, number: 1)
            return token.isMuted
        }
        #expect(isMuted && !token.isMuted)
        token.muted(keepingNewest: true) { center.post(.sample, numbers: 2...3) }
        #expect(log.entries == [3])
        #expect(throws: Thrown.self) {
            try token.muted { () throws(Thrown) in
                center.post(.sample, number: 4)
                throw Thrown()
            }
        }
        #expect(!token.isMuted && log.entries == [3])
    }

    @Test func `D9 L1 the audit says that an observer is muted`() throws {
        let tokens = [observe(), observe()]
        tokens[0].mute()
        tokens[1].mute()
        tokens[1].mute()
        center.post(.sample, number: 1)
        #expect(
            center.audit()[0].description.hasSuffix("(1 dropped: its observer is muted, muted)"))
        #expect(
            center.audit()[1].description.hasSuffix(
                "(1 dropped: its observer is muted, muted 2 times)"))
        #expect(center.audit().json().contains("\"muteCount\" : 2"))
        withExtendedLifetime(tokens) {}
    }

    @Test func `D9 a post beside an unmuting comes after the kept notification`() {
        let (center, token) = (center, observe(on: .custom(scheduler)))
        for round in 0..<500 {
            token.mute(keepingNewest: true)
            center.post(.sample, number: 2 * round)
            onThreads({ token.unmute() }, { center.post(.sample, number: 2 * round + 1) })
            scheduler.runAll()
        }
        #expect(log.entries == log.entries.sorted())
        #expect(log.entries.last == 999)
    }

    /// Calls a closure before the first job of each arming, and then waits as a `ManualScheduler`.
    private final class Interposing: DeliveryScheduler {
        let jobs = ManualScheduler()
        private let next = Box<(@Sendable () -> Void)?>()

        func arm(_ closure: @escaping @Sendable () -> Void) { next.set(closure) }

        func schedule(_ job: @escaping @Sendable () -> Void) {
            let closure = next.value
            next.drop()
            closure?()
            jobs.schedule(job)
        }
    }

    @Test func `D9 a post while a scheduler takes the kept notification's block comes after it`() {
        let (center, scheduler) = (center, Interposing())
        let token = observe(on: .custom(scheduler))
        token.mute(keepingNewest: true)
        center.post(.sample, number: 1)
        scheduler.arm { center.post(.sample, number: 2) }
        token.unmute()
        #expect(scheduler.jobs.waiting == 2)
        scheduler.jobs.runAll()
        #expect(log.entries == [1, 2])
    }

    // MARK: The payload of a kept notification

    private func payload(_ number: Int, _ body: @escaping @Sendable () -> Void = {}) -> Ending {
        Ending { [ended] in
            ended.add(number)
            body()
        }
    }

    private func post(_ object: Ending) { center.post(name: .sample, object: object) }

    @Test func `D9 R6 a kept notification is displaced and released with no lock held`() {
        let (center, box) = (center, Box<NotificationObserver?>(nil))
        // Each `deinit` takes the lock of the kept notification.
        let touch: @Sendable () -> Void = {
            box.value?.mute()
            box.value?.unmute()
            box.value?.backlog = .newest(3)
            _ = center.audit()
        }
        box.set(center.observe(.sample, on: .custom(scheduler), once: true) { _ in })
        box.value?.mute(keepingNewest: true)
        for number in 1...3 { post(payload(number, touch)) }
        #expect(ended.entries == [1, 2])
        box.value?.cancel()
        #expect(ended.entries == [1, 2, 3])
        box.set(nil)
    }
}
