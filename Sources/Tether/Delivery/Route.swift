internal import Dispatch
internal import Foundation

/// A target as one observer uses it: with the mailbox that its deliveries pass through.
struct Route: Sendable {
    static let poster = Route(target: .poster, mailbox: nil)

    let target: DeliveryTarget
    /// `nil` for the poster.
    let mailbox: Mailbox?

    var isPoster: Bool { mailbox == nil }

    private init(target: DeliveryTarget, mailbox: Mailbox?) {
        self.target = target
        self.mailbox = mailbox
    }

    /// Finds the target's mailbox, or makes it; a concurrent target gets one for this observer alone (D4).
    init(to target: DeliveryTarget) {
        self.target = target
        mailbox =
            switch target.kind {
            case .poster: nil
            case .main: MainDrains.mailbox
            case .operationQueue(let queue) where queue.maxConcurrentOperationCount != 1:
                Mailbox(scheduler: OperationDrains(queue: queue))
            case .operationQueue(let queue):
                Route.mailboxes.mailbox(of: queue) { OperationDrains(queue: queue) }
            case .dispatchQueue(let queue, concurrently: true): Mailbox(scheduler: DispatchDrains(queue: queue))
            case .dispatchQueue(let queue, concurrently: false): DispatchDrains.mailbox(of: queue)
            case .custom(let scheduler):
                Route.mailboxes.mailbox(of: scheduler) { CustomDrains(scheduler: scheduler) }
            case .thread(let loop, let modes): loop.mailbox(for: modes)
            case .actor(let actor): Route.mailboxes.mailbox(of: actor) { ActorDrains(actor: actor) }
            }
    }

    private static let mailboxes = MailboxTable()
}

/// The mailboxes in use, by the identity of what they deliver to, which each keeps alive.
private final class MailboxTable: Sendable {
    private struct Entry: Sendable { weak var mailbox: Mailbox? }

    private let entries = Guarded<[ObjectIdentifier: Entry]>([:])

    func mailbox(of object: AnyObject, scheduler: () -> any DrainScheduler) -> Mailbox {
        let identity = ObjectIdentifier(object)
        let made = Mailbox(scheduler: scheduler()) { [unowned self] in
            // Outside the lock, because this may by now be the last reference to the mailbox that came after.
            let successor = self.entries.withLock { entries -> Mailbox? in
                if let successor = entries[identity]?.mailbox { return successor }
                entries[identity] = nil
                return nil
            }
            withExtendedLifetime(successor) {}
        }
        // Outside the lock, because the mailbox that is not needed ends here, and looks into the table.
        return withExtendedLifetime(made) {
            entries.withLock { entries in
                if let known = entries[identity]?.mailbox { return known }
                entries[identity] = Entry(mailbox: made)
                return made
            }
        }
    }
}
