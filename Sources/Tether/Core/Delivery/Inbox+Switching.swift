/// The target switch (D6).
extension Inbox {
    /// Delivers to another target from now on, what is pending first.
    func redirect(to route: Route) {
        // A route that comes to nothing may be the last to keep its target, which is not to go under the lock (R6).
        let (moved, forgone) = withState { state -> (Move?, Switch?) in
            if state.hasEnded { return (nil, nil) }
            let forgone = state.nextSwitch
            state.nextSwitch = Switch(
                route: route.reusingMailbox(of: state.route), movesFrom: forgone?.movesFrom,
                sparedBefore: forgone?.sparedBefore ?? 0)
            return (moveUnlessDelivering(&state), forgone)
        }
        moved?.finish(self)
        withExtendedLifetime(forgone) {}
    }

    /// Takes the switch that was left for later, or leaves it again if a new drain has begun.
    ///
    /// True if what joined the drain is on the poster now: the caller is to see to it, because no post may come that would.
    func performSwitch() -> Bool {
        let (moved, hasRemainder) = withState { state -> (Move?, Bool) in
            let moved = moveUnlessDelivering(&state)
            return (moved, moved != nil && state.hasRemainder)
        }
        moved?.finish(self)
        return hasRemainder
    }

    private func moveUnlessDelivering(_ state: inout State) -> Move? {
        guard let next = state.nextSwitch else { return nil }
        // A drain that is running finishes here what is pending here.
        if state.isDelivering || !state.pending.isEmpty {
            if let mailbox = state.route.mailbox {
                if let ticket = mailbox.switchAfterDrain(self) {
                    // The same target set once more moves nothing.
                    if next.movesFrom == nil, next.route.mailbox !== mailbox { state.nextSwitch?.movesFrom = ticket }
                    return nil
                }
            } else if state.isDelivering {
                return nil
            }
        }
        defer { state.nextSwitch = nil }
        return move(to: next.route, &state)
    }

    private struct Move {
        let old: Route
        let new: Route
        let drains: [Drain]
        /// Deliveries beyond those that may wait on the new target.
        let dropped: [Delivery]
        /// Deliveries that were cancelled on the old one.
        let cancelled: [Delivery]

        func finish(_ inbox: Inbox) {
            if let mailbox = new.mailbox { for drain in drains { mailbox.schedule(drain) } }
            inbox.endDropped(cancelled)
        }
    }

    private func move(to new: Route, _ state: inout State) -> Move {
        let old = state.route
        // No post of a sender that has gone would come to deliver what is pending on the poster.
        let new = state.isLast && new.isPoster ? old : new
        // Another thread that cancels them has yet to come by (D2).
        let cancelled = takeCancelled(in: &state)
        state.route = new
        var drains: [Drain] = []
        // What was spared by a cancelling has no entry any more.
        let isSpared = state.pending.first.map { old.mailbox?.isCancelled(ticket: $0.ticket) == true } ?? false
        if old.mailbox !== new.mailbox || isSpared {
            old.mailbox?.withdraw(state.pending.elements.map(\.ticket))
            state.pending.modifyEach { delivery in
                guard let (ticket, drain) = new.mailbox?.append(self) else { return }
                delivery.ticket = ticket
                if let drain { drains.append(drain) }
            }
        }
        return Move(old: old, new: new, drains: drains, dropped: trim(&state), cancelled: cancelled)
    }
}
