internal import Foundation

/// Receiving, from posts: a look at the state under the lock, then a step with no lock held.
extension Inbox {
    enum Step {
        case none
        case inline
        /// To schedule a drain for what is pending.
        case schedule(Drain, Mailbox)
        case deliverPending
    }

    /// The outcome of a look at the state: a step to take, and values to release, with no lock held.
    struct Reception {
        var step = Step.none
        var released: [Delivery]?
    }

    /// Delivers or enqueues a notification, on the poster; or drops or keeps it, if the observer is muted.
    func receive(_ notification: Notification, stored: StoredNotification? = nil, for registration: Registration) {
        // X3: what waits is kept without an object whose end has begun. Looked for outside the lock, because an object may be
        // asked there.
        let hasEndingObject = stored == nil && notification.hasEndingObject
        let reception = state.withLock { state -> Reception in
            if let mailbox = unsafe state.plain, !registration.isOnce {
                // SAFETY: see `State`.
                let (ticket, drain) = unsafe mailbox._withUnsafeGuaranteedRef { $0.append(self) }
                let waiting = stored ?? Inbox.kept(notification, hasEndingObject)
                state.pending.append(Delivery(ticket: ticket, waiting, registration: registration))
                guard let drain else { return Reception() }
                return Reception(step: .schedule(drain, unsafe mailbox.takeUnretainedValue()))
            }
            return decide(notification, hasEndingObject, stored, for: registration, in: &state)
        }
        switch reception.step {
        case .none: break
        case .inline: registration.runInline(notification)
        case .schedule(let drain, let mailbox):
            // The post is done with the registration, and who waits for its handlers may be waited for in there.
            if mailbox.mayWait { PostingThread.withdraw(registration.address) }
            mailbox.schedule(drain)
        case .deliverPending: deliverPending()
        }
    }

    @inline(__always)
    private static func kept(_ notification: Notification, _ hasEndingObject: Bool) -> StoredNotification {
        StoredNotification(hasEndingObject ? notification.withoutObject : notification)
    }

    /// Decides, under the lock, what is done with a notification. Out of line, so that the usual case above is inlined, and
    /// copies none for this one.
    @inline(never)
    private func decide(
        _ notification: Notification, _ hasEndingObject: Bool, _ stored: StoredNotification?,
        for registration: Registration, in state: inout State
    ) -> Reception {
        defer { state.lookForPlain() }
        func kept() -> StoredNotification { stored ?? Inbox.kept(notification, hasEndingObject) }
        if state.hasEnded { return Reception() }
        if state.flow.isMuted {
            var reception = Reception()
            if !registration.isClaimed { reception = hold(kept(), for: registration, in: &state) }
            if state.beginRemainder() { reception.step = .deliverPending }
            return reception
        }
        guard registration.claimForDelivery() else {
            // The delivery that claimed it may have been left to the next post, by a switch to the poster (D6).
            return Reception(step: state.beginRemainder() ? .deliverPending : .none)
        }
        if state.pending.isEmpty {
            if state.route.mailbox?.isOpenInline ?? !state.isDelivering { return Reception(step: .inline) }
        }
        if state.route.isInlineAtOnce { return Reception(step: .inline) }
        return enqueue(Delivery(ticket: 0, kept(), registration: registration), in: &state)
    }

    /// Puts a delivery behind what is pending.
    func enqueue(_ delivery: consuming Delivery, in state: inout State) -> Reception {
        guard let mailbox = state.route.mailbox else {
            state.pending.append(delivery)
            // Nothing waits where the poster is about to deliver all of it.
            if state.isDelivering { return Reception(released: trim(&state)) }
            state.isDelivering = true
            return Reception(step: .deliverPending)
        }
        let (ticket, drain) = mailbox.append(self)
        delivery.ticket = ticket
        state.pending.append(delivery)
        return Reception(step: drain.map { .schedule($0, mailbox) } ?? .none, released: trim(&state))
    }
}
