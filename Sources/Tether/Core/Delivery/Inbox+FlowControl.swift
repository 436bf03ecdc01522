internal import Foundation
internal import Synchronization

// Flow control: backlogs (D8) and muting (D9).

extension Inbox {
    private static let keptTickets = Atomic<UInt64>(0)

    static func nextTicket() -> UInt64 { keptTickets.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Keeps a notification while muted, or drops it; lets go of what that displaces.
    func hold(
        _ stored: @autoclosure () -> StoredNotification, for registration: Registration, in state: inout State
    ) -> Reception {
        let cause = "its observer is muted"
        guard state.flow.keepsNewest else {
            state.dropped += 1
            if TraceEvent.isOn { registration.traceDrop(of: stored().notification.name, cause) }
            return Reception()
        }
        let delivery = Delivery(ticket: Inbox.nextTicket(), stored(), registration: registration)
        guard let displaced = state.flow.keep(delivery) else { return Reception() }
        drop(CollectionOfOne(displaced), in: &state, because: cause)
        return Reception(released: [displaced])
    }

    /// Drops the oldest, or the newest, of more deliveries than may wait.
    func trim(_ state: inout State) -> [Delivery] {
        guard state.pending.count > state.flow.backlog.limit else { return [] }
        let excess = state.pending.count - state.flow.backlog.limit
        var dropped = state.flow.backlog.keepsOldest ? state.pending.removeNewest(excess) : []
        while excess > dropped.count, let delivery = state.pending.popFirst() { dropped.append(delivery) }
        state.route.mailbox?.withdraw(dropped.map(\.ticket))
        drop(dropped, in: &state, because: "its backlog is full")
        return dropped
    }

    /// How many deliveries may wait.
    var backlog: BufferingPolicy { withState(\.flow.backlog) }

    /// Sets how many deliveries may wait; the caller releases what this returns.
    func setBacklog(_ backlog: BufferingPolicy) -> any Sendable {
        withState { state -> [Delivery] in
            guard !state.hasEnded else { return [] }
            state.flow.backlog = backlog
            return trim(&state)
        }
    }

    var isMuted: Bool { withState(\.flow.isMuted) }

    /// The place of what is kept among all that is kept while muted, in posting order.
    var ticketOfKept: UInt64? { withState { $0.flow.kept?.ticket } }

    /// The side that mutes or unmutes.
    enum Muter {
        case token
        /// The owner, for all observers that it has then.
        case owner
        /// A property, by so many mutings at once.
        case others(count: Int)
    }

    func mute(by muter: Muter, keepingNewest: Bool) {
        withState { state in
            switch muter {
            case .token: state.flow.mute(keepingNewest: keepingNewest)
            case .owner: state.flow.shareMutings(1, keepingNewest: keepingNewest)
            case .others(let count): state.flow.shareMutings(count, keepingNewest: keepingNewest)
            }
        }
    }

    /// The delivery, still to be made, of what was kept.
    struct Release {
        fileprivate let inbox: Inbox
        fileprivate var reception: Reception
        /// Held, because another thread may switch the target before this is performed.
        fileprivate let route: Route

        /// Schedules a drain, before handlers run here; this runs none.
        ///
        /// Whoever drops the drain then must have the last reference to it (D2), so it is handed over. One that is to run here
        /// is scheduled, too, because a handler before it may run a run loop, and nobody else asks for it meanwhile (D5).
        mutating func schedule() {
            guard case .schedule(let drain, let mailbox) = reception.step else { return }
            if mailbox.isCurrent { return mailbox.scheduleToo(drain) }
            reception.step = .none
            mailbox.schedule(drain)
        }

        consuming func perform() {
            if case .schedule(_, let mailbox) = reception.step, !mailbox.isCurrent { schedule() }
            run()
        }

        /// Runs the handler, where it is to run here, with no lock held; after `schedule`.
        func run() {
            switch reception.step {
            case .none, .inline: break
            // Where the target's drains run already, this is one (D3).
            case .schedule(let drain, let mailbox): if mailbox.isCurrent { drain.run() }
            case .deliverPending: inbox.deliverPending()
            }
            inbox.endIfDone()
        }

        /// Leaves what would have run here to the next post, or drops it, because a handler before it ended the thread.
        func forgo() {
            switch reception.step {
            case .none, .inline: inbox.endIfDone()
            case .schedule(let drain, _): drain.cancel()
            case .deliverPending: inbox.threadEnded()
            }
        }
    }

    /// Ends one muting; `nil` if the token, or the owner, has not muted.
    ///
    /// A notification that was kept takes its turn now, behind what is pending; the caller then performs the release.
    func unmute(by muter: Muter) -> Release? {
        withState { state -> Release? in
            guard !state.hasEnded else { return Release(inbox: self, reception: Reception(), route: state.route) }
            switch muter {
            case .token: guard state.flow.unmute() else { return nil }
            case .owner:
                // One that was attached later is not muted.
                guard state.flow.hasSharedMutings else { return nil }
                state.flow.shareMutings(-1, keepingNewest: false)
            case .others(let count): state.flow.shareMutings(-count, keepingNewest: false)
            }
            var reception = Reception()
            if !state.flow.isMuted { reception = enqueueKept(in: &state) }
            return Release(inbox: self, reception: reception, route: state.route)
        }
    }
}

extension Inbox {
    /// Puts what was kept behind what is pending.
    private func enqueueKept(in state: inout State) -> Reception {
        guard let kept = state.flow.takeKept() else { return Reception() }
        // R7: only now is a once observer used up.
        if memory.held?.claimForDelivery() == true { return enqueue(kept, in: &state) }
        traceDrops(CollectionOfOne(kept), because: "its observer was used up")
        return Reception(released: [kept])
    }
}

extension Registration {
    /// The inbox, which an observer on the poster has no need of otherwise.
    var madeInbox: Inbox { routedInbox ?? makeInbox(.poster) }

    /// Takes over what a property has for all its registrations; called before any post can see this one.
    func inherit(_ muting: Muting, _ backlog: BufferingPolicy) {
        if muting.count > 0, !hasEnded {
            madeInbox.mute(by: .others(count: muting.count), keepingNewest: muting.keepsNewest)
        }
        if backlog != .unbounded, !hasEnded { _ = madeInbox.setBacklog(backlog) }
    }
}
