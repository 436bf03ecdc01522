import Foundation
import Synchronization
import Testing

@testable import Tether

@Suite(.ownThread) struct MailboxTests {
    @Test func `D7 an inbox delivers through one drain, in order`() {
        let fixture = MailboxFixture()
        for number in 1...3 { fixture.post(number) }
        #expect(fixture.drains.waiting == 1)
        #expect(fixture.inbox.counts == (pending: 3, dropped: 0))
        fixture.drains.take()?.run()
        #expect(fixture.log.entries == [1, 2, 3])
        #expect(fixture.inbox.counts == (pending: 0, dropped: 0))
        #expect(!fixture.mailbox.isDraining)
    }

    @Test func `D3 where the drains run it delivers inline, unless something is pending`() {
        let fixture = MailboxFixture()
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
        let fixture = MailboxFixture()
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
        let fixture = MailboxFixture(isOnce: true)
        fixture.post(1)
        #expect(!fixture.registration.hasEnded)
        _ = fixture.drains.take()
        #expect(fixture.registration.hasEnded)
        fixture.post(2)
        #expect(fixture.drains.waiting == 0)
    }

    @Test func `R1 what is pending when the registration ends is not delivered`() {
        let fixture = MailboxFixture()
        fixture.post(1)
        fixture.registration.end()
        #expect(fixture.inbox.counts == (pending: 0, dropped: 0))
        fixture.drains.take()?.run()
        fixture.post(2)
        #expect(fixture.log.entries == [])
        #expect(fixture.drains.waiting == 0)
    }

    /// Does something when it is first asked for a drain.
    private struct HookedDrains: DrainScheduler {
        let hook: Box<(@Sendable () -> Void)?>

        func schedule(_ drain: Drain) {
            let hook = hook.value
            self.hook.set(nil)
            hook?()
        }
    }

    @Test func `D6 a switch that waits for a drain is taken though another drain begins before it is`() {
        let isRunning = Gate()
        let mayGoOn = Gate()
        let hasEnded = Gate()
        let hook = Box<(@Sendable () -> Void)?>(nil)
        let elsewhere = Route(target: .poster, mailbox: Mailbox(scheduler: HookedDrains(hook: hook)))
        let last = ManualDrains()
        let end = Route(target: .poster, mailbox: Mailbox(scheduler: last))
        let redirect = Box<(@Sendable () -> Void)?>(nil)
        let first = MailboxFixture { number in
            if number == 1 { redirect.value?() }
        }
        let second = MailboxFixture(on: first.mailbox) { number in
            guard number == 2 else { return }
            isRunning.open()
            mayGoOn.pass()
        }
        let (one, two, mailbox) = (first.registration, second.registration, first.mailbox)
        redirect.set {
            one.inbox?.redirect(to: elsewhere)
            two.inbox?.redirect(to: end)
            one.receive(Notification(name: .sample, object: nil, userInfo: ["number": 2]))
        }
        // Comes after the end of the first drain, when the first of the two has left it and the second has not.
        hook.set {
            two.receive(Notification(name: .sample, object: nil, userInfo: ["number": 2]))
            Thread {
                Drain(mailbox: mailbox, number: 2).run()
                hasEnded.open()
            }.start()
            isRunning.pass()
        }
        first.post(1)
        second.post(1)
        first.drains.take()?.run()
        mayGoOn.open()
        hasEnded.pass()
        #expect(second.log.entries == [1, 2])
        second.post(3)
        #expect(last.waiting == 1)
        last.take()?.run()
        #expect(second.log.entries == [1, 2, 3])
        redirect.set(nil)
        withExtendedLifetime((first, second)) {}
    }

    @Test func `D2 a drain that is cancelled before it has begun delivers nothing, the next one what is new`() {
        let fixture = MailboxFixture()
        fixture.post(1)
        // What the drain does where another thread cancels it between its first step and its second.
        fixture.mailbox.cancel(1)
        fixture.mailbox.drain(1)
        #expect(fixture.log.entries == [])
        #expect(fixture.inbox.counts == (pending: 0, dropped: 1))
        fixture.post(2)
        fixture.drains.take()?.run()
        fixture.drains.take()?.run()
        #expect(fixture.log.entries == [2])
    }

    @Test func `R3 D6 D8 D9 an inbox that has ended takes no post, no target and no backlog, and ends any muting`() {
        let fixture = MailboxFixture()
        let (inbox, registration) = (fixture.inbox, fixture.registration)
        fixture.post(1)
        #expect(inbox.unmute(by: .token) == nil)
        registration.end()
        // What those do that found it live just before.
        inbox.receive(Notification(name: .sample), for: registration)
        #expect(inbox.counts == (pending: 0, dropped: 0))
        inbox.redirect(to: Route(target: .poster, mailbox: nil))
        #expect(inbox.route.mailbox === fixture.mailbox)
        withExtendedLifetime(inbox.setBacklog(.newest(1))) {}
        #expect(inbox.backlog == .unbounded)
        let release = inbox.unmute(by: .token)
        #expect(release != nil)
        release?.perform()
        fixture.drains.take()?.run()
        #expect(fixture.log.entries == [])
    }

    @Test func `D6 a turn of a mailbox that the inbox has left is passed over`() {
        let fixture = MailboxFixture()
        let old = Mailbox(scheduler: ManualDrains())
        fixture.post(1)
        fixture.inbox.deliver(0..<1, from: old)
        #expect(fixture.inbox.takeCancelled(from: old).isEmpty)
        #expect(fixture.log.entries == [])
        #expect(fixture.inbox.counts == (pending: 1, dropped: 0))
        fixture.drains.take()?.run()
        #expect(fixture.log.entries == [1])
    }

    @Test func `D6 a registration has one inbox, whoever makes it first`() {
        let fixture = MailboxFixture()
        #expect(fixture.registration.makeInbox(.poster) === fixture.inbox)
        #expect(fixture.inbox.route.mailbox === fixture.mailbox)
    }

    private struct GoneActor: ActorReferring {
        let identity = ObjectIdentifier(GoneActor.self)
        let description = "gone"

        func take() -> (any Actor)? { nil }
    }

    @Test func `D2 a drain for an actor that has gone is cancelled, and what it stood for dropped and counted`() {
        let fixture = MailboxFixture()
        fixture.post(1)
        let drains = ActorDrains(reference: GoneActor())
        #expect(drains.heldActor == nil)
        drains.schedule(Drain(mailbox: fixture.mailbox, number: 1))
        #expect(fixture.inbox.counts == (pending: 0, dropped: 1))
        fixture.drains.take()?.run()
        #expect(fixture.log.entries == [])
    }

    @Test func `D2 a drain finds its delivery behind those of a drain that is being cancelled`() {
        let fixture = MailboxFixture()
        for number in 1...2 { fixture.post(number) }
        let taken = fixture.inbox.withState { $0.take(1..<2, from: fixture.mailbox)?.stored.notification.number }
        #expect(taken == 2)
        #expect(fixture.inbox.counts.pending == 1)
        fixture.drains.take()?.run()
        #expect(fixture.log.entries == [1])
    }
}
