internal import Synchronization

/// The FIFO of one asynchronous target, shared by all observers that deliver there (D4).
///
/// One drain is scheduled at a time, so a burst of posts costs one wake-up (D7). Locks are taken inbox first, then
/// mailbox; nothing of the user's runs under either.
final class Mailbox: Sendable {
    /// How many turns are over: withdrawn, or taken out of their inboxes.
    private let finished = Atomic<UInt64>(0)
    /// The number of the drain that was abandoned last.
    private let abandoned = Atomic<UInt64>(0)
    private let scheduler: any DrainScheduler
    private let state = Guarded(MailboxState(), rank: .mailbox)
    private let whenUnused: (@Sendable () -> Void)?
    /// Whether a post may be made where the drains run, as far as that can be told; asked of the scheduler once, because
    /// each call through an existential costs as much as a lock.
    let mayBeCurrent: Bool

    init(scheduler: any DrainScheduler, whenUnused: (@Sendable () -> Void)? = nil) {
        self.scheduler = scheduler
        self.whenUnused = whenUnused
        mayBeCurrent = scheduler.mayBeCurrent
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

    var isDraining: Bool { state.withLock(\.isDraining) }

    /// Adds a turn. The caller has the inbox's lock, and schedules the drain that is returned after it let go.
    func append(_ inbox: Inbox) -> (ticket: UInt64, drain: Drain?) {
        // SAFETY: the caller holds both for the call; a closure would retain what it captures.
        let (mailbox, inbox) = unsafe (Unmanaged.passUnretained(self), Unmanaged.passUnretained(inbox))
        return state.withLock { state -> (UInt64, Drain?) in
            let (ticket, number) = unsafe inbox._withUnsafeGuaranteedRef { state.append($0) }
            guard let number else { return (ticket, nil) }
            return (ticket, unsafe mailbox._withUnsafeGuaranteedRef { $0.makeDrain(number) })
        }
    }

    /// A drain that is about to be scheduled. Made under the lock, so that who finds it scheduled finds its actor held.
    private func makeDrain(_ number: UInt64) -> Drain {
        Drain(mailbox: self, number: number, holding: scheduler.heldActor)
    }

    /// Takes turns back that have not come. The caller has the inbox's lock, and has taken the deliveries out.
    func withdraw(_ tickets: [UInt64]) {
        if tickets.isEmpty { return }
        state.withLock { state in
            for ticket in tickets { state.withdraw(ticket) }
        }
        finish(tickets.count)
    }

    /// Counts turns whose deliveries were taken out of their inboxes.
    func finish(_ count: Int = 1) { finished.wrappingAdd(UInt64(count), ordering: .releasing) }

    /// Asks for `inbox.leave()` when the drain that is running ends; false if none is.
    func letLeave(_ inbox: Inbox) -> Bool {
        state.withLock { state in
            guard state.isDraining else { return false }
            state.letLeave(inbox)
            return true
        }
    }

    /// Has the next drain deliver what an inbox has left on the poster. The caller has the inbox's lock, and schedules the
    /// drain that is returned after it let go.
    func deliverLater(_ inbox: Inbox) -> Drain? { state.withLock { $0.deliverLater(inbox).map(makeDrain) } }

    func schedule(_ drain: Drain) { scheduler.schedule(drain) }

    /// Delivers what was pending when it began, on the calling thread, and schedules a drain for the rest (D7).
    func drain(_ number: UInt64, atMost count: Int = .max) {
        let begun = state.withLock { state in
            state.beginDrain(number, atMost: count).map { (turns: $0, leftovers: state.takeLeftovers()) }
        }
        guard let (turns, leftovers) = begun else { return }
        for inbox in leftovers { inbox.deliverLeftovers(in: self) }
        for turn in turns { turn.inbox?.deliver(turn.tickets, of: number, from: self) }
        // The turns are let go after it, with no lock held.
        withExtendedLifetime(turns) { endDrain(number) }
    }

    private func endDrain(_ number: UInt64) {
        let (rest, leaving) = state.withLock { state in
            let (rest, leaving) = state.endDrain(number)
            return (rest.map(makeDrain), leaving)
        }
        let joined = leaving.filter { $0.leave() }
        if let rest { schedule(rest) }
        for inbox in joined { inbox.deliverLeftovers(in: self) }
    }

    /// Ends a drain in which a handler ended its thread: drops what is pending, and counts it.
    func forsake(_ number: UInt64) {
        let inboxes = state.withLock { $0.inboxesInHand(of: number) }
        abandon(number)
        for inbox in inboxes { inbox.forsake(in: self) }
        endDrain(number)
    }

    /// Whether a drain that is running is to deliver no more.
    func isAbandoned(_ drain: UInt64) -> Bool { abandoned.load(ordering: .acquiring) == drain }

    /// Drops what is pending, and counts it.
    func abandon(_ number: UInt64) {
        let taken = state.withLock { state in
            state.abandon(number).map { dropped in
                abandoned.store(number, ordering: .releasing)
                return (dropped: dropped, leftovers: state.takeLeftovers())
            }
        }
        guard let (dropped, leftovers) = taken else { return }
        for turn in dropped { turn.inbox?.drop(turn.tickets, from: self) }
        for inbox in leftovers { inbox.forgoLeftovers() }
    }
}
