import Foundation
import Synchronization
import Testing

@testable import Tether

/// The order of deliveries.
@Suite struct OrderTests {
    private final class Sender: Sendable {}

    private let center = ObserverCenter()
    private let log = Log<Int>()

    /// A registration of any of the six kinds for a post of `.sample` from `object` or from 7.
    private func observe(_ number: Int, kind: Int, object: Sender) -> NotificationObserver {
        let log = log
        let handler: @Sendable (Notification) -> Void = { _ in log.add(number) }
        return switch kind {
        case 0: center.observe(.sample, from: object, handler)
        case 1: center.observe(nil, from: object, handler)
        case 2: center.addObserver(forName: .sample, object: 7, queue: nil, using: handler)
        case 3: center.addObserver(forName: nil, object: 7, queue: nil, using: handler)
        case 4: center.observe(.sample, handler)
        default: center.observe(nil, handler)
        }
    }

    @Test(arguments: 0..<6)
    func `M3 registration order holds through any number of removals and additions`(seed: Int) {
        var dice = SplitMix64(seed: UInt64(seed))
        let object = Sender()
        var live: [(number: Int, kind: Int, token: NotificationObserver)] = []
        for number in 0..<400 {
            // More are added than removed at first, then more removed.
            if !live.isEmpty, Int.random(in: 0..<400, using: &dice) < 100 + number / 2 {
                live.remove(at: Int.random(in: 0..<live.count, using: &dice)).token.cancel()
            } else {
                let kind = Int.random(in: 0..<6, using: &dice)
                live.append((number, kind, observe(number, kind: kind, object: object)))
            }
            guard number % 5 == 0 else { continue }
            let before = log.entries.count
            center.post(name: .sample, object: object)
            #expect(
                log.entries.dropFirst(before)
                    == live.filter { [0, 1, 4, 5].contains($0.kind) }.map(\.number)[...])
            let middle = log.entries.count
            center.post(name: .sample, object: 7)
            #expect(
                log.entries.dropFirst(middle) == live.filter { $0.kind >= 2 }.map(\.number)[...])
        }
        withExtendedLifetime((live, object)) {}
    }

    @Test(arguments: [false, true])
    func `M3 M6 observers of any name and of a name keep one order, also with a target`(
        isPayload: Bool
    ) {
        let (log, jobs) = (log, ManualScheduler())
        let tokens = (0..<8).map { number in
            let name = number.isMultiple(of: 2) ? nil : Notification.Name.sample
            let target: DeliveryTarget = number % 4 < 2 ? .postingThread : .custom(jobs)
            return center.observe(name, on: target) { _ in log.add(number) }
        }
        func post(_ name: Notification.Name) {
            center.post(name: name, object: nil, userInfo: isPayload ? ["number": 1] : nil)
        }
        // The first posts of a name take the lock, and the later ones find it in the cache.
        for _ in 0..<10 {
            let before = log.entries.count
            post(.sample)
            jobs.runAll()
            #expect(log.entries.dropFirst(before) == [0, 1, 4, 5, 2, 3, 6, 7])
        }
        for _ in 0..<10 {
            let before = log.entries.count
            post(.other)
            jobs.runAll()
            #expect(log.entries.dropFirst(before) == [0, 4, 2, 6])
        }
        withExtendedLifetime(tokens) {}
    }

    @Test func `R4 a handler's own additions of a name and of any name wait for the next post`() {
        let (log, center, added) = (log, center, Log<NotificationObserver>())
        let tokens = [nil, Notification.Name.sample].enumerated().map { number, name in
            center.observe(name) { _ in
                log.add(number)
                guard added.entries.count < 4 else { return }
                added.add(center.observe(nil) { _ in log.add(10) })
                added.add(center.observe(.sample) { _ in log.add(11) })
            }
        }
        center.post(name: .sample, object: nil)
        #expect(log.entries == [0, 1])
        center.post(name: .sample, object: nil)
        #expect(log.entries.dropFirst(2) == [0, 1, 10, 11, 10, 11])
        withExtendedLifetime(tokens) {}
    }

    /// A post reads the last id, then the bucket of the name, and then that of any name. An
    /// observer that is added meanwhile may be in one bucket alone.
    @Test func `M3 R4 a post of two buckets leaves out observers added after its first look`() {
        let tokens = [observe(1, kind: 4, object: Sender()), observe(2, kind: 5, object: Sender())]
        // The name has a cache entry from now on.
        center.post(name: .sample, object: nil)
        let atFirstLook = center.core.quickMatching.lastAdded.load(ordering: .relaxed)
        let later = [observe(3, kind: 4, object: Sender()), observe(4, kind: 5, object: Sender())]
        let now = center.core.quickMatching.lastAdded.load(ordering: .relaxed)
        // As if the post had read the id before the two were added.
        center.core.quickMatching.lastAdded.store(atFirstLook, ordering: .relaxed)
        center.post(name: .sample, object: nil)
        center.core.quickMatching.lastAdded.store(now, ordering: .relaxed)
        center.post(name: .sample, object: nil)
        #expect(log.entries == [1, 2, 1, 2, 1, 2, 3, 4])
        withExtendedLifetime((tokens, later)) {}
    }
}
