import Foundation
import Testing

@testable import Tether

/// The end of an observer, as posts on one thread see it.
@Suite(.ownThread) struct StoppingTests {
    private final class Object: Sendable {}

    private let center = ObserverCenter()
    let log = Log<String>()

    /// The ways in which an observer can end while its token is kept.
    enum End: CaseIterable, Sendable {
        case stop, removeToken, removeTokenForName, removeByName, removeBySender, removeByOwner,
            removeOwner
        case removeAll, stopAll, cancelAndWait, ownerGoes, senderGoes, replaced

        /// A notification keeps its object, so that a sender does not go during a post of its own.
        static let duringPosts = allCases.filter { $0 != .senderGoes }
    }

    /// An observer of the sample name that can be ended in each of those ways.
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
        // Bulk removal by name, and of all, takes the last one too.
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

    @Test
    func
        `R3 M5 stopping an observer again during a post ends no other observer's watch of the sender`()
    {
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

    @Test
    func
        `R4 an observer added during a post, after the last one has ended, is first called by the next`()
    {
        let (log, center) = (log, center)
        let (last, added) = (Box<NotificationObserver?>(), Box<NotificationObserver?>())
        let first = center.observe(.sample) { _ in
            log.add("first")
            // The place of the last observer is free now, and within what the post goes through.
            last.drop()
            if added.value == nil { added.set(center.observe(.sample) { _ in log.add("added") }) }
        }
        last.set(center.observe(.sample) { _ in log.add("last") })
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["first"])
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["first", "first", "added"])
        withExtendedLifetime(first) { added.drop() }
    }

    @Test func `R4 removals and additions during a post disturb none of the others`() {
        let (log, center) = (log, center)
        let tokens = Box<[NotificationObserver]?>([])
        let churning = center.observe(.sample) { _ in
            // Every other one ends, which makes the center tidy up under the post.
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
