/// The target switch (D6).
extension Inbox {
    /// Delivers to another target from now on, what is pending first.
    func redirect(to route: Route) {
        // A route that comes to nothing may be the last to keep its target, which is not to go under the lock (R6).
        let (moved, forgone) = withState { state -> (Move?, Route?) in
            if state.hasEnded { return (nil, nil) }
            let forgone = state.nextRoute
            state.nextRoute = route
            return (moveUnlessDelivering(&state), forgone)
        }
        moved?.finish()
        withExtendedLifetime(forgone) {}
    }

    /// Takes the switch that was left for later, or leaves it again if a new drain has begun.
    ///
    /// True if what joined the drain is on the poster now: the caller is to see to it, because no post may come that would.
    func leave() -> Bool {
        let (moved, hasLeftovers) = withState { state -> (Move?, Bool) in
            let moved = moveUnlessDelivering(&state)
            return (moved, moved != nil && state.hasLeftovers)
        }
        moved?.finish()
        return hasLeftovers
    }

    private func moveUnlessDelivering(_ state: inout State) -> Move? {
        guard let next = state.nextRoute else { return nil }
        // A drain that is running finishes here what is pending here.
        if state.isDelivering || !state.pending.isEmpty {
            if let mailbox = state.route.mailbox {
                if mailbox.letLeave(self) { return nil }
            } else if state.isDelivering {
                return nil
            }
        }
        state.nextRoute = nil
        return move(to: next, &state)
    }

    private struct Move {
        let old: Route
        let new: Route
        let drains: [Drain]
        /// What is more than may wait on the new target.
        let dropped: [Delivery]

        func finish() {
            guard let mailbox = new.mailbox else { return }
            for drain in drains { mailbox.schedule(drain) }
        }
    }

    private func move(to new: Route, _ state: inout State) -> Move? {
        // No post of a sender that has gone would come to deliver what is pending on the poster.
        if state.isLast, new.isPoster { return nil }
        let old = state.route
        state.route = new
        var drains: [Drain] = []
        if old.mailbox !== new.mailbox {
            old.mailbox?.withdraw(state.pending.elements.map(\.ticket))
            state.pending.modifyEach { delivery in
                guard let (ticket, drain) = new.mailbox?.append(self) else { return }
                delivery.ticket = ticket
                if let drain { drains.append(drain) }
            }
        }
        return Move(old: old, new: new, drains: drains, dropped: trim(&state))
    }
}
