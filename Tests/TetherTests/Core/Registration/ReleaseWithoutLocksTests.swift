import Foundation
import Testing

@testable import Tether

/// That values of the user's are released where they may use the center.
@Suite(.ownThread) struct ReleaseWithoutLocksTests {
    private final class Object: Sendable {}

    /// A value whose equality looks at its number, and which holds something with a `deinit`.
    private struct Tagged: Hashable, Sendable {
        let number: Int
        let tag: Ending

        static func == (a: Tagged, b: Tagged) -> Bool { a.number == b.number }
        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    private let center = ObserverCenter()
    private let releases = Log<String>()

    /// Something that uses the center in all ways when it goes.
    private func tag(_ label: String = "released") -> Ending {
        // Weakly, because the center may be what is going.
        Ending { [weak center, releases] in
            releases.add(label)
            guard let center else { return }
            let owner = Object()
            center.post(name: .sample, object: owner)
            center.post(name: .other, object: 7)
            center.observe(.sample, from: owner, key: "in a deinit") { _ in }.cancel()
            center.observe(.sample, owner: owner, key: "in a deinit") { _, _ in }
            _ = center.addObserver(forName: .other, object: 7, queue: OperationQueue()) { _ in }
            center.removeObservers(named: Notification.Name("nobody's"))
            center.removeObserver(owner)
            _ = center.audit().description
            OwnerObservers(of: owner).cancel()
            OwnerLifetime.purge()
        }
    }

    private func handler(capturing tag: Ending) -> @Sendable (Notification) -> Void {
        { _ in tag.touch() }
    }

    @Test func `R6 R8 a captured object that goes with stop may use the center`() {
        let token = center.observe(.sample, handler(capturing: tag()))
        token.cancel()
        #expect(releases.entries == ["released"])
        #expect(center.core.isEmpty)
    }

    @Test func `R6 R8 a captured object that goes with the token may use the center`() {
        let token = SharedHolder(center.observe(.sample, handler(capturing: tag())))
        token.drop()
        #expect(releases.entries == ["released"])
    }

    @Test func `R6 R8 O3 a captured object that goes with the owner may use the center`() {
        let owner = SharedHolder(Object())
        center.observe(.sample, owner: owner.value!) { [handler = handler(capturing: tag())] in handler($1) }
        owner.drop()
        #expect(releases.entries == ["released"])
    }

    @Test func `R6 M5 a captured object that goes with the sender may use the center`() {
        let sender = SharedHolder(Object())
        let token = center.observe(.sample, from: sender.value!, handler(capturing: tag()))
        sender.drop()
        #expect(releases.entries == ["released"])
        #expect(!token.isActive)
    }

    @Test func `R6 M7 a captured object that goes with a replacement may use the center`() {
        let first = center.observe(.sample, key: 1, handler(capturing: tag()))
        let second = center.observe(.sample, key: 1) { _ in }
        #expect(releases.entries == ["released"])
        withExtendedLifetime((first, second)) {}
    }

    @Test func `R6 R9 captured objects that go with a bulk removal may use the center`() {
        let tokens = (0..<5).map { center.observe(.sample, handler(capturing: tag("\($0)"))) }
        center.removeObservers(named: .sample)
        #expect(releases.entries == ["0", "1", "2", "3", "4"])
        #expect(tokens.allSatisfy { !$0.isActive })
    }

    @Test func `R6 R7 a captured object that goes with a once observer may use the center`() {
        let token = center.observe(.sample, once: true, handler(capturing: tag()))
        center.post(name: .sample, object: nil)
        #expect(releases.entries == ["released"])
        withExtendedLifetime(token) {}
    }

    @Test func `R6 R10 a captured object that goes with the center may use what is left`() {
        let other = center
        let holder = SharedHolder(ObserverCenter())
        let log = releases
        let token = {
            let captured = Ending {
                other.post(name: .sample, object: nil)
                log.add("released")
            }
            return holder.value!.observe(.sample, handler(capturing: captured))
        }()
        holder.drop()
        #expect(releases.entries == ["released"])
        #expect(!token.isActive)
    }

    @Test func `R6 a captured object that goes when a post ends may use the center`() {
        let (token, releases) = (SharedHolder<NotificationObserver>(), releases)
        do {
            let captured = tag()
            token.set(
                center.observe(.sample) { _ in
                    captured.touch()
                    token.value?.cancel()
                    releases.add("stopped")
                })
        }
        center.post(name: .sample, object: nil)
        #expect(releases.entries == ["stopped", "released"])
        token.drop()
    }

    @Test func `R6 a captured object that goes with a reconfiguration may use the center and the observer`() {
        let observer = NotificationObserver(center: center)
        let log = releases
        do {
            let captured = Ending { [unowned observer] in
                log.add("released \(observer.isActive)")
                observer.target = .postingThread
            }
            observer.observe(.sample, handler(capturing: captured))
        }
        observer.observe(.other) { _ in }
        #expect(releases.entries == ["released true"])
        observer.cancel()
    }

    @Test func `R6 R8 the payload of what was enqueued is dropped at the stop and may use the center`() {
        let jobs = HeldJobs()
        let token = center.observe(.other, on: .custom(jobs)) { _ in }
        center.post(name: .other, object: tag("object"))
        center.post(name: .other, object: nil, userInfo: ["payload": tag("payload")])
        #expect(releases.entries.isEmpty)
        token.cancel()
        #expect(releases.entries.sorted() == ["object", "payload"])
        jobs.run()
    }

    @Test func `R6 R8 a payload that is dropped at the stop may wait until the delivery under way has ended`() {
        let jobs = HeldJobs()
        let (isRunning, mayReturn, hasEnded) = (Latch(), Latch(), Latch())
        let token = center.observe(.other, on: .custom(jobs)) { _ in
            isRunning.open()
            mayReturn.wait()
        }
        center.post(name: .other, object: nil)
        do {
            let payload = Ending { [releases] in
                mayReturn.open()
                hasEnded.wait()
                releases.add("payload")
            }
            center.post(name: .other, object: nil, userInfo: ["payload": payload])
        }
        allAtOnce(
            {
                jobs.run()
                hasEnded.open()
            },
            {
                isRunning.wait()
                token.cancel()
            })
        #expect(releases.entries == ["payload"])
        #expect(center.core.isEmpty)
    }

    @Test func `R6 a value sender's own object may use the center when its observers end`() {
        let tokens = (0..<3).map { number in
            let sender = Tagged(number: number / 2, tag: tag("\(number)"))
            return center.addObserver(forName: number == 1 ? nil : .sample, object: sender, queue: nil) { _ in }
        }
        for token in tokens { token.cancel() }
        #expect(releases.entries.sorted() == ["0", "1", "2"])
        #expect(center.core.isEmpty)
    }

    @Test func `R6 a posted value sender's own object may use the center`() {
        let token = center.addObserver(
            forName: .sample, object: Tagged(number: 1, tag: Ending {}), queue: nil
        ) { _ in }
        center.post(name: .sample, object: Tagged(number: 1, tag: tag("matching")))
        center.post(name: .sample, object: Tagged(number: 2, tag: tag("not matching")))
        center.post(name: .other, object: Tagged(number: 1, tag: tag("nobody's")))
        center.removeObserver(token, name: nil, object: Tagged(number: 2, tag: tag("removal")))
        #expect(releases.entries == ["matching", "not matching", "nobody's", "removal"])
        withExtendedLifetime(token) {}
    }

    @Test func `R6 M7 a key's own object may use the center when its observer ends or is replaced`() {
        let owner = SharedHolder(Object())
        let first = center.observe(.sample, key: Tagged(number: 1, tag: tag("first"))) { _ in }
        let second = center.observe(.sample, key: Tagged(number: 1, tag: tag("second"))) { _ in }
        center.observe(.sample, owner: owner.value!, key: Tagged(number: 1, tag: tag("owned"))) { _, _ in }
        #expect(releases.entries == ["first"])
        second.cancel()
        #expect(releases.entries == ["first", "second"])
        owner.drop()
        #expect(releases.entries == ["first", "second", "owned"])
        #expect(center.core.isEmpty)
        withExtendedLifetime(first) {}
    }

    @Test func `R6 D6 a target that is switched away from may use its observer`() {
        let log = releases
        let token = center.observe(.sample) { _ in }
        func scheduler(_ label: String) -> HeldJobs {
            HeldJobs { [unowned token] in
                log.add("\(label) \(token.isActive)")
                _ = token.target
            }
        }
        token.target = .custom(scheduler("first"))
        token.target = .custom(scheduler("second"))
        token.target = .postingThread
        #expect(releases.entries == ["first true", "second true"])
    }

    /// In a process of its own, because what it excludes is the end of the process.
    @Test
    func
        `R6 D6 a target that was asked for during a delivery, and given up before it came to it, may use its observer`()
        async
    {
        await #expect(processExitsWith: .success) {
            let (center, jobs, log) = (ObserverCenter(), HeldJobs(), Log<String>())
            let token = SharedHolder<NotificationObserver>()
            @Sendable func scheduler(_ label: String) -> HeldJobs {
                HeldJobs { log.add("\(label) \(token.value?.target.description ?? "none")") }
            }
            token.set(
                center.observe(.sample, on: .custom(jobs)) { note in
                    token.value?.target = .custom(scheduler("replaced"))
                    token.value?.target = .custom(scheduler("stopped"))
                    if note.object == nil { token.value?.cancel() }
                })
            center.post(name: .sample, object: nil)
            jobs.run()
            token.drop()
            precondition(log.entries.map { $0.prefix(8) } == ["replaced", "stopped "])
        }
    }
}
