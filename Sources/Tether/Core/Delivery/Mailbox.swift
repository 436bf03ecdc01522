internal import Synchronization

/// The FIFO of one asynchronous target, shared by all observers that deliver there (D4).
///
/// One drain is scheduled at a time, so a burst of posts costs one wake-up (D7). Locks are taken inbox first, then
/// mailbox; nothing of the user's runs under either.
final class Mailbox: Sendable {
    /// How many entries are over: withdrawn, or taken out of their inboxes.
    private let finished = Atomic<UInt64>(0)
    /// How many tickets had been given out when a drain was cancelled last: what still waits of those is to be dropped.
    private let cancelledTickets = Atomic<UInt64>(0)
    /// The number of the last drain that the scheduler is known to have, if that matters.
    private let handedOver = Atomic<UInt64>(0)
    private let scheduler: any DrainScheduler
    private let state: Guarded<MailboxState>
    private let whenUnused: (@Sendable () -> Void)?
    /// Whether a post may be made where the drains run, as far as that can be told; asked of the scheduler once, because
    /// each call through an existential costs as much as a lock.
    let mayBeCurrent: Bool
    /// Whether a drain is handed over to code of the user's, which may wait for others there.
    let mayWait: Bool
    /// Whether it matters which drains the scheduler has at one moment.
    private let hasOrder: Bool

    init(scheduler: any DrainScheduler, whenUnused: (@Sendable () -> Void)? = nil) {
        self.scheduler = scheduler
        self.whenUnused = whenUnused
        mayBeCurrent = scheduler.mayBeCurrent
        mayWait = scheduler.mayWait
        hasOrder = scheduler.isSerial || scheduler.canCancel
        state = Guarded(MailboxState(isSerial: scheduler.isSerial), rank: .mailbox)
    }

    deinit { whenUnused?() }

    /// Whether a post made here and now may deliver inline: on the target, with nothing pending there (D3).
    var isOpenInline: Bool {
        guard scheduler.isCurrent else { return false }
        // First, because both only grow: what was over by then is all that has been added by now.
        let finished = finished.load(ordering: .acquiring)
        return state.withLock(\.nextTicket) == finished
    }

    /// Whether the caller is where the drains run.
    var isCurrent: Bool { scheduler.isCurrent }

    /// Whether it is another one of the same concurrent queue.
    func sharesQueue(with other: Mailbox) -> Bool { scheduler.sharesQueue(with: other.scheduler) }

    var isDraining: Bool { state.withLock(\.isDraining) }

    /// Adds an entry. The caller has the inbox's lock, and schedules the drain that is returned after it let go.
    func append(_ inbox: Inbox) -> (ticket: UInt64, drain: Drain?) {
        // SAFETY: the caller holds both for the call; a closure would retain what it captures.
        let (mailbox, inbox) = unsafe (Unmanaged.passUnretained(self), Unmanaged.passUnretained(inbox))
        return state.withLock { state -> (UInt64, Drain?) in
            let (ticket, number) = unsafe inbox._withUnsafeGuaranteedRef { state.append($0) }
            guard let number = number ?? (unsafe mailbox._withUnsafeGuaranteedRef { $0.drainOnItsWay(in: state) })
            else { return (ticket, nil) }
            return (ticket, unsafe mailbox._withUnsafeGuaranteedRef { $0.makeDrain(number) })
        }
    }

    /// The drain that another thread is about to hand over, if that matters. Whoever adds to it hands it over as well, so that
    /// it is there when the post has returned: before what is put on the queue then (D4), and cancelled with all that is
    /// there (D2). The first to be begun is the one that counts.
    @inline(__always)
    private func drainOnItsWay(in state: borrowing MailboxState) -> UInt64? {
        guard hasOrder, let number = state.scheduled else { return nil }
        return handedOver.load(ordering: .acquiring) < number ? number : nil
    }

    /// A drain that is about to be scheduled. Made under the lock, so that who finds it scheduled finds its actor held.
    private func makeDrain(_ number: UInt64) -> Drain {
        Drain(mailbox: self, number: number, isKeeping: scheduler.keepsMailbox, holding: scheduler.heldActor)
    }

    /// Takes entries back that have not come. The caller has the inbox's lock, and has taken the deliveries out.
    func withdraw(_ tickets: [UInt64]) {
        if tickets.isEmpty { return }
        state.withLock { state in
            for ticket in tickets { state.withdraw(ticket) }
        }
        finish(tickets.count)
    }

    /// Counts entries whose deliveries were taken out of their inboxes, where that is ever asked.
    func finish(_ count: Int = 1) {
        if mayBeCurrent { finished.wrappingAdd(UInt64(count), ordering: .releasing) }
    }

    /// Asks for `inbox.performSwitch()` when the drain that is running ends; returns the first ticket of those that it has not
    /// begun with, and that are not cancelled; `nil` if none is running.
    func switchAfterDrain(_ inbox: Inbox) -> UInt64? {
        state.withLock { state in
            guard state.isDraining else { return nil }
            return max(state.switchAfterDrain(inbox), cancelledTickets.load(ordering: .relaxed))
        }
    }

    /// Has the next drain deliver what an inbox has left on the poster. The caller has the inbox's lock, and schedules the
    /// drain that is returned after it let go.
    func deliverLater(_ inbox: Inbox) -> Drain? { state.withLock { $0.deliverLater(inbox).map(makeDrain) } }

    func schedule(_ drain: Drain) {
        guard hasOrder else { return scheduler.schedule(drain) }
        if handedOver.load(ordering: .acquiring) >= drain.number { return drain.discard() }
        scheduler.schedule(drain)
        handedOver.max(drain.number, ordering: .acquiringAndReleasing)
    }

    /// Hands over another drain in the place of one that the caller is to run, which may be late.
    func scheduleToo(_ drain: Drain) { schedule(makeDrain(drain.number)) }

    /// Delivers what was pending when it began, on the calling thread, and schedules a drain for the rest (D7).
    func drain(_ number: UInt64, atMost count: Int = .max) {
        // Before it begins, because a post that came between would have to hand the next one over itself (D4).
        if hasOrder, let next = state.withLock({ $0.reserveNext(after: number).map(makeDrain) }) { schedule(next) }
        let begun = state.withLock { state in
            state.beginDrain(number, atMost: count).map { (entries: $0, remainders: state.takeRemainders()) }
        }
        guard let (entries, remainders) = begun else { return }
        for inbox in remainders { inbox.deliverRemainder(in: self) }
        for entry in entries { entry.inbox?.deliver(entry.tickets, from: self) }
        // The entries are let go after it, with no lock held.
        withExtendedLifetime(entries) { endDrain(number) }
    }

    private func endDrain(_ number: UInt64) {
        let (rest, switching) = state.withLock { state in
            let (rest, switching) = state.endDrain(number)
            return (rest.map(makeDrain), switching)
        }
        let joined = switching.filter { $0.performSwitch() }
        if let rest { schedule(rest) }
        for inbox in joined { inbox.deliverRemainder(in: self) }
    }

    /// Ends a drain in which a handler ended its thread: drops what is pending, and counts it.
    func threadEnded(_ number: UInt64) {
        let inboxes = state.withLock { $0.inboxes(ofBatch: number) }
        cancel(number)
        for inbox in inboxes { inbox.threadEnded(in: self) }
        endDrain(number)
    }

    /// Drops what is pending, and counts it.
    func cancel(_ number: UInt64) {
        let cancellation = state.withLock { state in
            state.cancel(number).map { dropped in
                cancelledTickets.store(state.nextTicket, ordering: .releasing)
                return (dropped: dropped, remainders: state.takeRemainders())
            }
        }
        guard let (dropped, remainders) = cancellation else { return }
        // All are taken out before the first is let go, which may run code of the user's that posts, or switches targets.
        var taken: [(inbox: Inbox, deliveries: [Inbox.Delivery])] = []
        for inbox in dropped.lazy.compactMap(\.inbox) where inbox !== taken.last?.inbox {
            taken.append((inbox, inbox.takeCancelled(from: self)))
        }
        for (inbox, deliveries) in taken { inbox.endDropped(deliveries) }
        for inbox in remainders { inbox.leaveRemainderToPosts() }
    }

    /// Whether the drain of a ticket that was given out here has been cancelled; if it is running, it is to deliver no more.
    func isCancelled(ticket: UInt64) -> Bool { ticket < cancelledBefore }

    /// The first ticket that was not cancelled.
    var cancelledBefore: UInt64 { cancelledTickets.load(ordering: .acquiring) }
}
