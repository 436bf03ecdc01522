import Foundation
import Synchronization
import Testing

@testable import Tether

@Suite struct MailboxTests {
    /// Keeps the drains it is given, and is where the test says.
    private final class ManualDrains: DrainScheduler {
        private let drains = Guarded<[Drain]>([])
        let current = Flag()

        var waiting: Int { drains.withLock(\.count) }
        var isCurrent: Bool { current.isRaised }

        func schedule(_ drain: Drain) { drains.withLock { $0.append(drain) } }

        func take() -> Drain? { drains.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    }

    /// A registration that no center has, with an inbox on a mailbox.
    private struct Fixture {
        let drains = ManualDrains()
        let mailbox: Mailbox
        let log = Log<Int>()
        let center = ObserverCenter()
        let registration: Registration
        let inbox: Inbox

        init(isOnce: Bool = false) {
            mailbox = Mailbox(scheduler: drains)
            let route = Route(target: .poster, mailbox: mailbox)
            registration = Registration(
                center: center.core, route: route, isOnce: isOnce,
                site: RegistrationSite(file: #fileID, line: #line)
            ) { [log] in log.add($0.number) }
            inbox = registration.inbox.load()!
        }

        func post(_ number: Int) {
            registration.receive(Notification(name: .sample, object: nil, userInfo: ["number": number]))
        }
    }

    @Test func `D7 an inbox delivers through one drain, in order`() {
        let fixture = Fixture()
        for number in 1...3 { fixture.post(number) }
        #expect(fixture.drains.waiting == 1)
        #expect(fixture.inbox.counts == (pending: 3, dropped: 0))
        fixture.drains.take()?.run()
        #expect(fixture.log.entries == [1, 2, 3])
        #expect(fixture.inbox.counts == (pending: 0, dropped: 0))
        #expect(!fixture.mailbox.isDraining)
    }

    @Test func `D3 where the drains run it delivers inline, unless something is pending`() {
        let fixture = Fixture()
        fixture.post(1)
        fixture.drains.current.raise()
        fixture.post(2)
        #expect(fixture.log.entries == [])
        fixture.drains.take()?.run()
        fixture.post(3)
        #expect(fixture.log.entries == [1, 2, 3])
        #expect(fixture.drains.waiting == 0)
    }

    @Test func `D2 a drain that is cancelled, or let go, drops and counts what was pending`() {
        let fixture = Fixture()
        fixture.post(1)
        let cancelled = fixture.drains.take()
        cancelled?.cancel()
        cancelled?.run()
        #expect(fixture.inbox.counts == (pending: 0, dropped: 1))
        fixture.post(2)
        fixture.post(3)
        _ = fixture.drains.take()
        #expect(fixture.inbox.counts == (pending: 0, dropped: 3))
        fixture.post(4)
        fixture.drains.take()?.run()
        #expect(fixture.log.entries == [4])
    }

    @Test func `R7 a dropped delivery ends a once registration`() {
        let fixture = Fixture(isOnce: true)
        fixture.post(1)
        #expect(!fixture.registration.hasEnded)
        _ = fixture.drains.take()
        #expect(fixture.registration.hasEnded)
        fixture.post(2)
        #expect(fixture.drains.waiting == 0)
    }

    @Test func `R1 what is pending when the registration ends is not delivered`() {
        let fixture = Fixture()
        fixture.post(1)
        fixture.registration.end()
        #expect(fixture.inbox.counts == (pending: 0, dropped: 0))
        fixture.drains.take()?.run()
        fixture.post(2)
        #expect(fixture.log.entries == [])
        #expect(fixture.drains.waiting == 0)
    }
}
