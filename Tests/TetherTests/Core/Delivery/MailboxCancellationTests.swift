import Foundation
import Testing

@testable import Tether

/// Drains that can be cancelled at any moment, as operations can.
@Suite struct MailboxCancellationTests {
    /// Has drains that can be cancelled, and does something before it has the next one.
    private final class CancellableDrains: DrainScheduler {
        let drains = Guarded<[Drain]>([])
        let hook = Box<(@Sendable () -> Void)?>(nil)
        var canCancel: Bool { true }

        func schedule(_ drain: Drain) {
            let hook = hook.value
            self.hook.set(nil)
            hook?()
            drains.withLock { $0.append(drain) }
        }

        var all: [Drain] { drains.withLock(\.self) }

        func cancelAll() { for drain in all { drain.cancel() } }
    }

    @Test func `D2 a drain that is cancelled at its end takes the next one along, which is not there yet`() {
        let drains = CancellableDrains()
        let again = Box<(@Sendable () -> Void)?>(nil)
        let fixture = MailboxFixture(on: Mailbox(scheduler: drains)) { if $0 == 1 { again.value?() } }
        again.set { [registration = fixture.registration] in
            registration.receive(Notification(name: .sample, object: nil, userInfo: ["number": 2]))
            drains.hook.set { drains.cancelAll() }
        }
        fixture.post(1)
        drains.all[0].run()
        #expect(drains.all.count == 2)
        #expect(fixture.inbox.counts == (pending: 0, dropped: 1))
        drains.all[1].run()
        fixture.post(3)
        #expect(drains.all.count == 3)
        drains.all[0].cancel()
        drains.all[2].run()
        #expect(fixture.log.entries == [1, 3])
        #expect(fixture.inbox.counts == (pending: 0, dropped: 1))
        again.set(nil)
    }

    @Test func `D2 what is posted while another thread is about to hand a drain over can be cancelled at once`() {
        let drains = CancellableDrains()
        let mailbox = Mailbox(scheduler: drains)
        let (first, second) = (MailboxFixture(on: mailbox), MailboxFixture(on: mailbox))
        drains.hook.set { [registration = second.registration] in
            registration.receive(Notification(name: .sample, object: nil, userInfo: ["number": 2]))
            drains.cancelAll()
        }
        first.post(1)
        #expect(first.inbox.counts == (pending: 0, dropped: 1) && second.inbox.counts == (pending: 0, dropped: 1))
        for drain in drains.all { drain.run() }
        #expect(first.log.entries + second.log.entries == [])
        second.post(3)
        for drain in drains.all { drain.run() }
        #expect(second.log.entries == [3])
    }

    @Test func `D6 D4 what a cancelling spares for a new target comes before what is posted as the drain ends`() {
        let (drains, nextDrains) = (CancellableDrains(), CancellableDrains())
        let (mailbox, next) = (Mailbox(scheduler: drains), Mailbox(scheduler: nextDrains))
        let last = Box<(@Sendable () -> Void)?>(nil)
        let first = MailboxFixture(on: mailbox)
        let second = MailboxFixture(on: mailbox) { if $0 == 1 { last.value?() } }
        for fixture in [first, second] { fixture.post(1) }
        last.set { [first, second] in
            for fixture in [first, second] {
                fixture.post(2)
                fixture.inbox.redirect(to: Route(target: .poster, mailbox: next))
            }
            drains.cancelAll()
        }
        // The second one has not switched yet when the first one has, and no drain runs any more.
        nextDrains.hook.set { [second] in
            second.post(3)
            for drain in drains.all { drain.run() }
        }
        drains.all[0].run()
        for drain in drains.all + nextDrains.all { drain.run() }
        #expect(first.log.entries == [1, 2])
        #expect(second.log.entries == [1, 2, 3])
        #expect(second.inbox.counts == (pending: 0, dropped: 0))
        last.set(nil)
    }

    @Test func `D7 a drain that several hand over is there once, and runs once`() {
        let drains = CancellableDrains()
        let mailbox = Mailbox(scheduler: drains)
        let (first, second) = (MailboxFixture(on: mailbox), MailboxFixture(on: mailbox))
        for fixture in [first, second] {
            fixture.inbox.mute(by: .token, keepingNewest: true)
            fixture.post(1)
        }
        var releases = [first, second].compactMap { $0.inbox.unmute(by: .token) }
        for index in releases.indices { releases[index].schedule() }
        #expect(drains.all.count == 1)
        drains.all[0].run()
        #expect(first.log.entries == [1] && second.log.entries == [1])
    }
}
