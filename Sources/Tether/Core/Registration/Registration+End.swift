internal import COwnerLifetime
internal import Foundation

/// The end of an observer.
///
/// | Function | Called by | When |
/// |---|---|---|
/// | `end` | anybody | at once |
/// | `endAfterPending` | its sender | after the last delivery |
/// | `beginFinishing` | a `finish()` | after the last delivery |
///
/// All end by `close`, which one thread does, and then by `completeEnd` with that thread's cause; or
/// by `completeDetachedEnd` if the owner's list has dropped the registration already.
extension Registration {
    /// Ends the registration: no handler starts any more, and the captures are released (R1, R8).
    func end(because cause: EndCause = .stopped) {
        if !hasEnded, close() { completeEnd(because: cause) }
    }

    /// Ends the registration of a deallocated sender after its pending deliveries (M5).
    func endAfterPending(of sender: ObjectRecord) {
        // The registration may have a new sender at the same address.
        guard details?.sender === sender else { return }
        if let mailbox {
            mailbox.endAfterPending()
        } else {
            end(because: .senderEnded)
        }
    }

    /// Takes no further post, and ends the registration after its pending deliveries (R11). The
    /// work of an owner has an end of its own.
    func beginFinishing() {
        if let work = workHook {
            work.beginFinishing(self)
        } else if let mailbox {
            mailbox.beginFinishing()
        } else {
            end(because: .finished)
        }
    }

    /// Completes an end after the state was closed, with no lock held.
    func completeEnd(because cause: EndCause = .stopped) {
        // The token in the owner's list is released last.
        let token = owned.flatMap { ObjectTable.shared.detach($0) }
        withExtendedLifetime(token) { completeDetachedEnd(because: cause) }
    }

    /// Completes an end of a registration that is in no owner's list any more.
    func completeDetachedEnd(because cause: EndCause) {
        LockRank.checkNoneIsHeld()
        let begun = Events.report(.observerEnds(self, because: cause))
        defer { Events.end(begun) }
        // Everything is unlinked first and released last, so a `deinit` that runs here sees a
        // complete end. The result retains this registration.
        let released = isOutside ? (self, []) : center.unlink(self)
        // Most registrations have nothing else to end. No thread waits for such an end: a
        // `finish()` waits for the ends of registrations with a mailbox alone.
        if details == nil, mailbox == nil {
            Events.report(.ended(address))
            return withExtendedLifetime(released) {}
        }
        // Resumes a `finish()`.
        defer { if tether_is_awaited(address.bits) { HandlerWait.resumeWaiters(address) } }
        let deliveries = mailbox?.end(of: self)
        if let details {
            if let sender = details.sender { ObjectTable.shared.unwatchSender(sender, for: center) }
            for hook in details.hooks { hook.ended(self, because: cause) }
        }
        withExtendedLifetime(deliveries) {}
        withExtendedLifetime(released) { _ = Events.report(.ended(address)) }
    }
}

extension Unowned where Object: Registration {
    /// The registration, retained, unless its end has begun.
    var live: Object? {
        guard let registration = retained, !registration.hasEnded else { return nil }
        return registration
    }
}
