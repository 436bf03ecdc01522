import Foundation
import Testing

@testable import Tether

@Suite struct SenderEndTests {
    private let log = Log<String>()

    private func observe(
        _ center: ObserverCenter, _ sender: Holder<LoggedObject>, on target: DeliveryTarget = .poster,
        once: Bool = false
    ) -> NotificationObserver {
        let capture = LoggedObject("capture", log)
        return center.observe(.sample, from: sender.object!, on: target, once: once) { [log] note in
            capture.touch()
            log.add("handler, object \((note.object as? LoggedObject)?.name ?? "none")")
        }
    }

    /// A sender that posts in its own `deinit`.
    private func lastWordSender(_ center: ObserverCenter) -> Holder<LoggedObject> {
        Holder(LoggedObject("sender", log) { sender in center.post(name: .sample, object: sender) })
    }

    // MARK: The last post

    @Test(arguments: LifetimeMode.allCases)
    func `M5 X3 a post in a sender's deinit reaches its observers once, with the sender`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let sender = lastWordSender(center)
        let token = observe(center, sender)
        sender.release()
        if mode == .hook { log.add("released") }
        mode.expectAfterEnd(center.core.isEmpty && !token.isActive && log.entries.contains("capture deinit"))
        let expected = ["sender deinit", "handler, object sender", "capture deinit"]
        #expect(log.entries == expected + (mode == .hook ? ["released"] : []))
        #expect(center.audit().isEmpty)
    }

    @Test(arguments: LifetimeMode.allCases)
    func `M5 every observer of a dying sender is reached, in order, on every center`(mode: LifetimeMode) {
        let centers = (0..<3).map { _ in mode.makeCenter() }
        let sender = Holder(
            LoggedObject("sender", log) { sender in
                for center in centers { center.post(name: .sample, object: sender) }
            })
        // A trace is an unowned reference, with which the sweep takes no end that it did not see to be complete.
        let trace = mode == .hook ? Trace(sender.object!) : nil
        var tokens: [NotificationObserver] = []
        for (index, center) in centers.enumerated() {
            tokens.append(center.observe(.sample, from: sender.object!) { [log] _ in log.add("\(index) named") })
            tokens.append(center.observe(nil, from: sender.object!) { [log] _ in log.add("\(index) any") })
        }
        sender.release()
        #expect(
            log.entries == ["sender deinit", "0 named", "0 any", "1 named", "1 any", "2 named", "2 any"])
        mode.expectAfterEnd(centers.allSatisfy(\.core.isEmpty) && trace?.hasRecord != true)
        #expect(tokens.allSatisfy { !$0.isActive })
    }

    @Test(arguments: LifetimeMode.allCases)
    func `M5 the end of a sender ends its observers on every center, and no others`(mode: LifetimeMode) {
        let centers = (0..<3).map { _ in mode.makeCenter() }
        let (sender, other) = (Holder(LoggedObject("sender", log)), LoggedObject("other", log))
        var (ending, staying): ([NotificationObserver], [NotificationObserver]) = ([], [])
        for center in centers {
            for name in [Notification.Name.sample, .other, nil] {
                ending.append(center.observe(name, from: sender.object!) { _ in })
                staying.append(center.observe(name, from: other) { _ in })
                staying.append(center.observe(name) { _ in })
            }
        }
        sender.release()
        mode.expectAfterEnd(ending.allSatisfy { !$0.isActive } && centers.allSatisfy { $0.core.count == 6 })
        #expect(staying.allSatisfy { $0.isActive })
        staying = []
        #expect(centers.allSatisfy { $0.core.isEmpty })
        withExtendedLifetime(other) {}
    }

    @Test func `M5 O3 an observer whose owner is the dying sender has ended before its deinit`() {
        let center = ObserverCenter()
        let sender = lastWordSender(center)
        center.observe(.sample, from: sender.object!, owner: sender.object!) { [log] _, _ in log.add("own") }
        let token = center.observe(.sample, from: sender.object!) { [log] _ in log.add("stranger's") }
        sender.release()
        #expect(log.entries == ["sender deinit", "stranger's"])
        #expect(center.core.isEmpty)
        withExtendedLifetime(token) {}
    }

    @Test(arguments: LifetimeMode.allCases)
    func `M5 O4 an object that is owner and sender still reaches others' observers in its deinit`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let sender = lastWordSender(center)
        // Reached first, with its owner gone.
        center.observe(.sample, owner: sender.object!) { [log] _, _ in log.add("own") }
        let token = center.observe(.sample, from: sender.object!) { [log] _ in log.add("stranger's") }
        sender.release()
        #expect(log.entries == ["sender deinit", "stranger's"])
        mode.expectAfterEnd(center.core.isEmpty && !token.isActive)
    }

    @Test(arguments: LifetimeMode.allCases)
    func `M5 a sweep while a sender's deinit runs leaves its observers to the last post`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let sender = Holder(
            LoggedObject("sender", log) { sender in
                OwnerLifetime.purge()
                center.post(name: .sample, object: sender)
            })
        let token = observe(center, sender)
        sender.release()
        #expect(log.entries.prefix(2) == ["sender deinit", "handler, object sender"])
        mode.expectAfterEnd(center.core.isEmpty && !token.isActive)
    }

    @Test(arguments: LifetimeMode.allCases)
    func `M5 a sender being deinitialised at registration leaves the observer inactive`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let (late, attached) = (Holder<NotificationObserver>(), Holder<NotificationObserver>())
        let owner = LoggedObject("owner", log)
        let traces = Holder<Trace>()
        let sender = Holder(
            LoggedObject("sender", log) { [log] sender in
                let capture = LoggedObject("capture", log)
                late.object = center.observe(.sample, from: sender) { _ in capture.touch() }
                attached.object = center.observe(.sample, from: sender, owner: owner) { _, _ in }
                center.post(name: .sample, object: sender)
            })
        traces.object = Trace(sender.object!)
        sender.release()
        #expect(late.object?.isActive == false && attached.object?.isActive == false)
        #expect(log.entries == ["sender deinit", "capture deinit"])
        #expect(center.core.isEmpty)
        #expect(!traces.object!.hasRecord && !OwnerTable.shared.hasRecord(of: ObjectIdentifier(owner)))
        withExtendedLifetime(owner) {}
    }

    @Test func `M5 references of the user's to a sender are left as they are, and change nothing`() {
        let center = ObserverCenter()
        let sender = lastWordSender(center)
        weak let early = sender.object
        unowned let pinned = sender.object!
        let token = observe(center, sender)
        #expect(early != nil && pinned === sender.object)
        sender.release()
        #expect(early == nil)
        #expect(log.entries == ["sender deinit", "handler, object sender", "capture deinit"])
        #expect(center.core.isEmpty && !token.isActive)
    }

    // MARK: What is enqueued

    @Test(arguments: LifetimeMode.allCases)
    func `M5 X3 what a sender's deinit enqueued is delivered, with no object, then its observers end`(
        mode: LifetimeMode
    ) {
        let center = mode.makeCenter()
        let scheduler = HeldJobs()
        let sender = Holder(
            LoggedObject("sender", log) { sender in
                center.post(name: .sample, object: sender)
                center.post(name: .sample, object: sender)
            })
        let token = observe(center, sender, on: .custom(scheduler))
        sender.release()
        OwnerLifetime.purge()
        #expect(log.entries == ["sender deinit"])
        #expect(center.audit().map(\.pending) == [2])
        #expect(token.isActive)
        scheduler.run()
        mode.expectAfterEnd(center.core.isEmpty && !token.isActive && log.entries.count == 4)
        #expect(log.entries == ["sender deinit", "handler, object none", "handler, object none", "capture deinit"])
    }

    @Test(arguments: LifetimeMode.allCases)
    func `M5 R7 a once observer is used up by what a sender's deinit enqueued`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let scheduler = HeldJobs()
        let sender = lastWordSender(center)
        let token = observe(center, sender, on: .custom(scheduler), once: true)
        sender.release()
        scheduler.run()
        mode.expectAfterEnd(center.core.isEmpty && !token.isActive)
        #expect(log.entries == ["sender deinit", "handler, object none", "capture deinit"])
    }

    @Test(arguments: LifetimeMode.allCases)
    func `M5 R1 what a sender's deinit enqueued is dropped by stop`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let scheduler = HeldJobs()
        let sender = lastWordSender(center)
        let token = observe(center, sender, on: .custom(scheduler))
        sender.release()
        token.stop()
        #expect(log.entries == ["sender deinit", "capture deinit"])
        scheduler.run()
        #expect(log.entries == ["sender deinit", "capture deinit"])
        #expect(center.core.isEmpty)
    }

    @Test(arguments: LifetimeMode.allCases)
    func `M5 O4 what a sender's deinit enqueued is dropped when the observer's owner ends`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let scheduler = HeldJobs()
        let sender = lastWordSender(center)
        let owner = Holder(LoggedObject("owner", log))
        center.observe(.sample, from: sender.object!, owner: owner.object!, on: .custom(scheduler)) {
            [log] _, _ in log.add("handler")
        }
        sender.release()
        owner.release()
        mode.expectAfterEnd(center.core.isEmpty)
        scheduler.run()
        #expect(log.entries == ["sender deinit", "owner deinit"])
    }

    @Test(arguments: LifetimeMode.allCases)
    func `M5 R10 what a sender's deinit enqueued is dropped when the center ends`(mode: LifetimeMode) {
        let center = Holder(mode.makeCenter())
        let scheduler = HeldJobs()
        let sender = Holder(
            LoggedObject("sender", log) { sender in center.object?.post(name: .sample, object: sender) })
        let token = observe(center.object!, sender, on: .custom(scheduler))
        sender.release()
        #expect(token.isActive)
        center.release()
        #expect(!token.isActive)
        scheduler.run()
        #expect(log.entries == ["sender deinit", "capture deinit"])
    }

    @Test(arguments: LifetimeMode.allCases)
    func `M5 R9 an observer that waits for what a dead sender enqueued can be removed by name`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let scheduler = HeldJobs()
        let sender = lastWordSender(center)
        let token = observe(center, sender, on: .custom(scheduler))
        sender.release()
        center.removeObservers(named: .sample)
        #expect(!token.isActive)
        scheduler.run()
        #expect(log.entries == ["sender deinit", "capture deinit"])
    }

    @Test func `M5 D2 an observer that waits for what a dead sender enqueued ends when that is dropped`() {
        let center = ObserverCenter()
        let scheduler = HeldJobs()
        let sender = lastWordSender(center)
        let token = observe(center, sender, on: .custom(scheduler))
        sender.release()
        scheduler.drop()
        #expect(log.entries == ["sender deinit", "capture deinit"])
        #expect(center.core.isEmpty && !token.isActive)
    }

    @Test func `M5 D6 what a dead sender enqueued follows a switch of the target`() {
        let center = ObserverCenter()
        let (first, second) = (HeldJobs(), HeldJobs())
        let sender = lastWordSender(center)
        let token = observe(center, sender, on: .custom(first))
        sender.release()
        token.target = .custom(second)
        first.run()
        #expect(log.entries == ["sender deinit"])
        second.run()
        #expect(log.entries == ["sender deinit", "handler, object none", "capture deinit"])
        #expect(center.core.isEmpty && !token.isActive)
    }

    @Test func `M5 a handler that runs what a dead sender enqueued may stop its own observer`() {
        let center = ObserverCenter()
        let scheduler = HeldJobs()
        let token = Holder<NotificationObserver>()
        let sender = Holder(
            LoggedObject("sender", log) { sender in
                center.post(name: .sample, object: sender)
                center.post(name: .sample, object: sender)
            })
        token.object = center.observe(.sample, from: sender.object!, on: .custom(scheduler)) { [log] _ in
            log.add("handler")
            token.object?.stop()
        }
        sender.release()
        scheduler.run()
        #expect(log.entries == ["sender deinit", "handler"])
        #expect(center.core.isEmpty)
    }

    @Test func `M5 D6 what a dead sender enqueued stays where it is when the target becomes the poster`() {
        let center = ObserverCenter()
        let scheduler = HeldJobs()
        let sender = lastWordSender(center)
        let token = observe(center, sender, on: .custom(scheduler))
        sender.release()
        token.target = .poster
        #expect(log.entries == ["sender deinit"])
        scheduler.run()
        #expect(log.entries == ["sender deinit", "handler, object none", "capture deinit"])
        #expect(center.core.isEmpty && !token.isActive)
    }

    @Test func `M5 D6 what a sender's deinit left for the next post on the poster is delivered at its end`() {
        let center = ObserverCenter()
        let token = Holder<NotificationObserver>()
        let sender = Holder(
            LoggedObject("sender", log) { sender in
                center.post(name: .sample, object: sender)
                token.object?.target = .poster
            })
        token.object = observe(center, sender, on: .custom(HeldJobs()))
        sender.release()
        #expect(log.entries == ["sender deinit", "handler, object none", "capture deinit"])
        #expect(center.core.isEmpty && token.object?.isActive == false)
    }
}
