internal import Foundation

/// Delivering, by drains, and by posters after a switch.
extension Inbox {
    /// Delivers what is pending, on the poster, and what joins meanwhile, or no more than a share; after `beginRemainder`.
    func deliverPending(atMost share: Int = .max) {
        PostingThread.deliver {
            var left = share
            var registration: Registration?
            while let delivery = withState({ state -> Delivery? in
                let delivery = left > 0 ? state.pending.popFirst() : nil
                state.isDelivering = delivery != nil
                if delivery != nil, registration == nil { registration = memory.held }
                return delivery
            }) {
                // What is pending is taken out by who ends the registration, before that goes.
                registration!.run(delivery)
                left -= 1
            }
        } orAtExit: {
            self.threadEnded()
        }
        // A delivery that joins a drain of another target just now has nobody else to make it.
        // Not covered: another thread switches there and back, between the deliveries and this.
        if performSwitch(), share == .max { deliverRemainder() }
        endIfDone()
    }

    /// Delivers what was left on the poster, unless a post has begun to; at a drain's end or beginning what is there now,
    /// and has the next drain deliver what joins meanwhile: a handler that posts to itself must not starve the queue (D7).
    func deliverRemainder(in mailbox: Mailbox? = nil) {
        let (held, isToDeliver, count) = withState { state -> (Mailbox?, Bool, Int) in
            (state.leftTo.take(), state.beginRemainder(), state.pending.count)
        }
        // Not covered: all of it, in the cases that the callers account for.
        if isToDeliver { deliverPending(atMost: mailbox == nil ? .max : count) }
        if let mailbox { leaveRemainder(to: mailbox) }
        withExtendedLifetime(held) {}
    }

    /// Has the next drain of a mailbox deliver what is left on the poster.
    func leaveRemainder(to mailbox: Mailbox) {
        let (drain, forgone) = withState { state -> (Drain?, Mailbox?) in
            guard state.hasRemainder else { return (nil, nil) }
            let forgone = state.leftTo
            state.leftTo = mailbox
            return (mailbox.deliverLater(self), forgone)
        }
        // Not covered: see `MailboxState.deliverLater`.
        if let drain { mailbox.schedule(drain) }
        withExtendedLifetime(forgone) {}
    }

    /// Leaves to the next post what a drain would have delivered; drops it, counted, if the sender has gone, of which no
    /// post comes.
    func leaveRemainderToPosts() {
        let (held, dropped) = withState { ($0.leftTo.take(), dropIfLast(in: &$0)) }
        if !dropped.isEmpty { endIfDone() }
        withExtendedLifetime((held, dropped)) {}
    }

    /// Delivers entries of a mailbox's drain, as far as they are still ours there.
    func deliver(_ tickets: Range<UInt64>, from mailbox: Mailbox) {
        var registration: Registration?
        var last = tickets.lowerBound
        // The rest is taken by the thread that cancelled the drain, or ended the observer.
        while last < tickets.upperBound, !mailbox.isCancelled(ticket: last), registration?.hasEnded != true,
            let delivery = (registration == nil ? nil : takeFromBatch(tickets, from: mailbox))
                ?? begin(tickets, from: mailbox, holding: &registration)
        {
            // As above.
            registration!.run(delivery)
            last = delivery.ticket + 1
        }
        if registration == nil { return }
        let isDone = withState { state in
            state.isDelivering = false
            return state.isDone
        }
        if isDone { memory.endOrphaned() }
    }

    /// Ends the delivery of a drain in which the handler ended its thread.
    func threadEnded(in mailbox: Mailbox) {
        if withState({ $0.route.mailbox === mailbox && $0.isDelivering }) { threadEnded() }
    }

    /// Ends the delivery of an observer whose handler ended its thread: a once observer is used up by it (R7).
    func threadEnded() {
        let dropped = withState { state -> [Delivery] in
            state.isDelivering = false
            return dropIfLast(in: &state)
        }
        withExtendedLifetime(dropped) {}
        // Not covered: a handler that ends its thread after another thread has switched there and back.
        if performSwitch() { deliverRemainder() }
        if memory.isOnce { memory.end(because: .usedUp) } else { endIfDone() }
    }

    /// Takes the delivery of an entry out of the batch, if it is there; after `begin`.
    private func takeFromBatch(_ tickets: Range<UInt64>, from mailbox: Mailbox) -> Delivery? {
        guard let delivery = batch.withLock({ $0.popLast(where: { tickets.contains($0.ticket) }) }) else { return nil }
        mailbox.finish()
        return delivery
    }

    /// Takes out the delivery of an entry, and more of what is pending into the batch; the registration is held for it.
    private func begin(
        _ tickets: Range<UInt64>, from mailbox: Mailbox, holding registration: inout Registration?
    ) -> Delivery? {
        withState { state -> Delivery? in
            guard let delivery = state.begin(tickets, from: mailbox) else { return nil }
            // Posts count what a bounded backlog has.
            if delivery.ticket + 1 < tickets.upperBound, state.flow.backlog == .unbounded {
                batch.withLock { state.pending.takeOldest(&$0) }
            }
            if registration == nil { registration = memory.held }
            return delivery
        }
    }

    /// Takes out, counted, what was pending on a mailbox when its drain was cancelled; `endDropped` is to follow.
    func takeCancelled(from mailbox: Mailbox) -> [Delivery] {
        withState { $0.route.mailbox === mailbox ? takeCancelled(in: &$0) : [] }
    }

    /// Does for deliveries that were dropped, with no lock held, what is done for others when their handler has returned.
    func endDropped(_ deliveries: consuming [Delivery]) {
        if deliveries.isEmpty { return }
        // A delivery that was dropped has used a once observer up (R7).
        if memory.isOnce { memory.end(because: .deliveryDropped) } else { endIfDone() }
    }
}
