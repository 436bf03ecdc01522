import Foundation
import Testing

@testable import Tether

/// The end of an observer, as deliveries on its target see it.
@Suite struct EndOnTargetTests {
    private final class Object: Sendable {}

    private let center = ObserverCenter()
    private let jobs = HeldJobs()
    private let log = Log<String>()

    @Test func `R1 stopped by an earlier delivery of the same drain, it does not run`() {
        let (log, second) = (log, SharedHolder<NotificationObserver>())
        let first = center.observe(.sample, on: .custom(jobs)) { _ in
            log.add("first")
            second.value?.cancel()
        }
        second.set(center.observe(.sample, on: .custom(jobs)) { _ in log.add("second") })
        let third = center.observe(.sample, on: .custom(jobs)) { _ in log.add("third") }
        center.post(name: .sample, object: nil)
        jobs.run()
        #expect(log.entries == ["first", "third"])
        withExtendedLifetime((first, third)) { second.drop() }
    }

    @Test func `R1 R8 stopped in its own delivery, it runs to its end, what else is pending is dropped, then all goes`()
    {
        let (log, token) = (log, SharedHolder<NotificationObserver>())
        do {
            let captured = Ending { log.add("released") }
            token.set(
                center.observe(.sample, on: .custom(jobs)) { note in
                    captured.touch()
                    token.value?.cancel()
                    log.add("ran \(note.object ?? "none")")
                })
        }
        for number in 0..<3 { center.post(name: .sample, object: number) }
        jobs.run()
        #expect(log.entries == ["ran 0", "released"])
        #expect(center.core.isEmpty)
        token.drop()
    }

    @Test func `R8 what was captured goes with the end of the delivery in which the owner was let go`() {
        let log = log
        let owner = SharedHolder(Ending { log.add("deinit") })
        do {
            let captured = Ending { log.add("released") }
            center.observe(.sample, owner: owner.value!, on: .custom(jobs)) { _, _ in
                captured.touch()
                owner.drop()
                log.add("handler ends")
            }
        }
        for _ in 0..<2 { center.post(name: .sample, object: nil) }
        jobs.run()
        // Which of the two is first where a delivery is the last to hold both, no line says.
        #expect(log.entries.first == "handler ends")
        #expect(log.entries.dropFirst().sorted() == ["deinit", "released"])
        #expect(center.core.isEmpty)
    }

    @Test func `R4 an observer added by a delivery is first called by the next post`() {
        let (log, center, jobs, added) = (log, center, jobs, SharedHolder<NotificationObserver>())
        let adding = center.observe(.sample, on: .custom(jobs), once: true) { _ in
            added.set(center.observe(.sample, on: .custom(jobs)) { note in log.add("\(note.object ?? "none")") })
        }
        center.post(name: .sample, object: 1)
        center.post(name: .sample, object: 2)
        jobs.run()
        #expect(log.entries == [])
        center.post(name: .sample, object: 3)
        jobs.run()
        #expect(log.entries == ["3"])
        withExtendedLifetime(adding) { added.drop() }
    }

    @Test func `R5 a delivery may post to its own target, which delivers that later`() {
        let (log, center) = (log, center)
        let token = center.observe(.sample, on: .custom(jobs)) { note in
            let level = note.object as? Int ?? 0
            log.add("\(level) begins")
            if level < 2 { center.post(name: .sample, object: level + 1) }
            log.add("\(level) ends")
        }
        center.post(name: .sample, object: 0)
        jobs.run()
        #expect(log.entries == ["0 begins", "0 ends", "1 begins", "1 ends", "2 begins", "2 ends"])
        withExtendedLifetime(token) {}
    }

    @Test func `R10 handlers that capture their own tokens go with the center`() {
        let (log, center) = (log, SharedHolder(ObserverCenter()))
        for target in [DeliveryTarget.postingThread, .custom(jobs)] {
            let (token, captured) = (SharedHolder<NotificationObserver>(), Ending { log.add("released") })
            token.set(
                center.value!.observe(.sample, on: target) { _ in
                    captured.touch()
                    withExtendedLifetime(token) {}
                })
        }
        center.value!.post(name: .sample, object: nil)
        #expect(log.entries == [])
        center.drop()
        #expect(log.entries == ["released", "released"])
    }
}
