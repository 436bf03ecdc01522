internal import Foundation

extension Inbox {
    struct Delivery: Sendable {
        /// The sequence number in the mailbox; without meaning while the target is the poster. Of a notification that was kept
        /// while muted, its number among all such.
        var ticket: UInt64
        let stored: StoredNotification
        /// The moment from which it waits, if there is a trace (L5), or 0; no other delivery has the same.
        let posted: UInt64

        /// Waits from now on.
        @inline(__always)
        init(ticket: UInt64, _ stored: StoredNotification, registration: Registration) {
            self.ticket = ticket
            self.stored = stored
            posted = registration.waitingSince
        }
    }

    /// A switch of the target that is to be made when what runs there has ended.
    struct Switch: Sendable {
        var route: Route
        /// The first ticket of what moves to another mailbox, and is not cancelled with the drain that is running (D6).
        var movesFrom: UInt64?
        /// The ticket before which all that was to move has been spared by a cancelling, wherever it goes after that.
        var sparedBefore: UInt64

        /// Whether a cancelling of the drain that is running spares a delivery. On the way to the poster all that was not
        /// spared before joins the drain.
        func spares(_ delivery: Delivery) -> Bool {
            guard let movesFrom, delivery.ticket >= movesFrom else { return false }
            return !route.isPoster || delivery.ticket < sparedBefore
        }
    }

    /// SAFETY: `plain` is the route's, which holds it, because `lookForPlain` follows every change.
    @safe struct State: Sendable {
        var route: Route
        /// The switch that a drain or poster which is delivering now leaves for later.
        var nextSwitch: Switch?
        var pending = FIFO<Delivery>()
        /// Whether a drain, or a poster that delivers what was left from before a switch, is calling the handler.
        var isDelivering = false
        var dropped = 0
        /// Whether the sender has gone, so that the observer ends when nothing is pending any more (M5).
        var isLast = false
        var hasEnded = false
        /// The route's mailbox, if what is posted now only takes its turn there, on a target that is elsewhere: the usual
        /// case, in which nothing else is looked at.
        var plain: Unmanaged<Mailbox>?
        /// The mailbox whose next drain is to deliver what is left on the poster. Held, because a mailbox is otherwise held
        /// by who delivers there.
        var leftTo: Mailbox?
        var flow = FlowControl<Delivery>()

        init(route: Route) {
            self.route = route
            lookForPlain()
        }

        var isDone: Bool { isLast && pending.isEmpty && !isDelivering && flow.kept == nil }

        /// Takes out the first delivery that has one of some tickets of a mailbox, to deliver it.
        mutating func begin(_ tickets: Range<UInt64>, from mailbox: Mailbox) -> Delivery? {
            guard let delivery = take(tickets, from: mailbox) else { return nil }
            isDelivering = true
            return delivery
        }

        /// Takes out the first delivery that has one of some tickets of a mailbox, if they are still ours there.
        mutating func take(_ tickets: Range<UInt64>, from mailbox: Mailbox) -> Delivery? {
            guard route.mailbox === mailbox else { return nil }
            if let delivery = pending.popFirst(if: { tickets.contains($0.ticket) }) {
                mailbox.finish()
                return delivery
            }
            // Not the first one: others before it are being dropped just now, or, as tickets rise, it is not there. Or they
            // were spared by a cancelling, because they are to move: it moves with them.
            guard let first = pending.first, first.ticket < tickets.lowerBound, !mayHaveSpared(from: mailbox),
                let delivery = pending.remove(where: { tickets.contains($0.ticket) })
            else { return nil }
            mailbox.finish()
            return delivery
        }

        /// Whether there may be deliveries that a cancelling has spared, and that are yet to move.
        private func mayHaveSpared(from mailbox: Mailbox) -> Bool {
            guard let movesFrom = nextSwitch?.movesFrom else { return false }
            return mailbox.isCancelled(ticket: movesFrom)
        }

        /// Takes out what was pending on the route when its drain was cancelled.
        mutating func removeCancelled() -> [Delivery] {
            guard let mailbox = route.mailbox else { return [] }
            let (before, next) = (mailbox.cancelledBefore, nextSwitch)
            func isDropped(_ delivery: Delivery) -> Bool {
                delivery.ticket < before && next?.spares(delivery) != true
            }
            var taken: [Delivery] = []
            while let delivery = pending.popFirst(if: isDropped) { taken.append(delivery) }
            if let first = pending.first, let next, next.spares(first) {
                if !next.route.isPoster {
                    nextSwitch?.sparedBefore = before
                } else {
                    // What was spared before stands in front of what joined the drain.
                    for delivery in pending.removeAll() {
                        if isDropped(delivery) { taken.append(delivery) } else { pending.append(delivery) }
                    }
                }
            }
            if !taken.isEmpty { mailbox.finish(taken.count) }
            return taken
        }

        /// Sets `plain` by all else.
        mutating func lookForPlain() {
            let isPlain = !hasEnded && !flow.isMuted && flow.backlog == .unbounded
            unsafe plain = isPlain ? route.mailbox.flatMap { $0.mayBeCurrent ? nil : unsafe .passUnretained($0) } : nil
        }

        /// Whether pending deliveries wait for a post to deliver them on the poster.
        var hasRemainder: Bool { route.isPoster && !pending.isEmpty && !isDelivering }

        /// Whether pending deliveries wait for a post to deliver them on the poster; if so, the caller is to do it.
        mutating func beginRemainder() -> Bool {
            guard hasRemainder else { return false }
            isDelivering = true
            return true
        }
    }

    /// Counts deliveries that are dropped.
    func drop(_ deliveries: some Collection<Delivery>, in state: inout State, because cause: String) {
        state.dropped += deliveries.count
        traceDrops(deliveries, because: cause)
    }

    /// To be called under the lock.
    func traceDrops(_ deliveries: some Collection<Delivery>, because cause: String) {
        guard TraceEvent.isOn, !deliveries.isEmpty else { return }
        let registration = memory.held
        for delivery in deliveries { registration?.traceDrop(of: delivery.stored.notification.name, cause) }
    }

    /// Takes out, counted, what was pending on the route when its drain was cancelled.
    func takeCancelled(in state: inout State) -> [Delivery] {
        let taken = state.removeCancelled()
        drop(taken, in: &state, because: "its target was cancelled, or has ended")
        return taken
    }

    /// Drops, counted, what is left on the poster if the sender has gone: no post comes that would deliver it.
    func dropIfLast(in state: inout State) -> [Delivery] {
        guard state.isLast, state.hasRemainder else { return [] }
        let last = state.pending.removeAll()
        drop(last, in: &state, because: "its sender has gone")
        return last
    }
}
