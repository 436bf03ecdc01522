/// The mailboxes in use, by the identity of what they deliver to, whose address each keeps from being used
/// again.
final class MailboxTable<Identity: Hashable & Sendable>: Sendable {
    private let entries = Guarded<[Identity: Unretained<Mailbox>]>([:])

    func mailbox(of identity: Identity, scheduler: () -> any DrainScheduler) -> Mailbox {
        if let known = entries.withLock({ $0[identity]?.take() }) { return known }
        let made = Mailbox(scheduler: scheduler()) { [unowned self] in
            // Another mailbox that is found here may have no other holder by now, so it goes outside the lock too.
            let other = self.entries.withLock { entries -> Mailbox? in
                let other = entries[identity]?.take()
                if other == nil { entries[identity] = nil }
                return other
            }
            withExtendedLifetime(other) {}
        }
        // Outside the lock, because the mailbox that is not needed ends here, and looks into the table.
        return withExtendedLifetime(made) {
            entries.withLock { entries in
                if let known = entries[identity]?.take() { return known }
                entries[identity] = Unretained<Mailbox>(made)
                return made
            }
        }
    }
}
