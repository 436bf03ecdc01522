package import Foundation

/// A registration as `TetherTesting` sees it: it is not kept, and neither is what its handler captured.
///
/// SAFETY: the weak reference is written once; loading it is atomic. All else never changes.
package final class WatchedRegistration: @unchecked Sendable, Identifiable {
    /// Unique as long as this lives, which pins the registration's memory.
    package typealias ID = UInt

    package let id: ID
    package let name: Notification.Name?
    package let file: String
    package let line: Int
    package let center: RegistrationWatch.CenterNumber
    /// Whether an owner's life bounds it.
    package let isAttached: Bool
    /// Whether it is that of an async sequence, which takes the deliveries in a target's place.
    package let isSequence: Bool
    private let reference: OwnerReference<Registration>?
    /// The registration's token, as long as it lives.
    package private(set) weak var token: AnyObject?

    init(_ registration: Registration, name: Notification.Name?, token: AnyObject) {
        reference = OwnerReference(registration)
        self.token = token
        self.name = name
        id = registration.address
        file = registration.site.file
        line = registration.site.line
        center = registration.center.number
        isAttached = registration.owned?.record != nil
        isSequence = registration.keeper != nil
    }

    package var isActive: Bool { reference?.take()?.hasEnded == false }

    /// The object whose life bounds it; `nil` once that has gone, too.
    package var owner: AnyObject? { reference?.take()?.owned?.record?.reference.take() }

    /// How many deliveries wait for it, and where.
    package var pending: (count: Int, target: String) {
        guard let inbox = reference?.take()?.inbox else { return (0, "poster") }
        return (inbox.counts.pending, inbox.target.description)
    }

    /// Whether what waits for it waits for the end of the caller's own turn of the main queue.
    package var waitsForCaller: Bool {
        guard let inbox = reference?.take()?.inbox, inbox.counts.pending > 0,
            inbox.route.mailbox?.isCurrent == true, MainDrains().isCurrent
        else { return false }
        let isInTask = unsafe withUnsafeCurrentTask { unsafe $0 != nil }
        // The main thread runs its loop, which takes other turns of the queue, unless a task is in one.
        return !Thread.isMainThread || isInTask
    }

    /// The deliveries that wait for it.
    package var pendingNotifications: [Notification] {
        reference?.take()?.inbox?.notifications ?? []
    }

    /// The handler as Tether keeps it, often one of its own around the user's, for looking into.
    package var handler: Handler? {
        guard let registration = reference?.take() else { return nil }
        if let owned = registration.owned { return .owned(owned.handler) }
        return .plain(unsafe unsafeDowncast(registration, to: PlainRegistration.self).handler)
    }

    /// A handler as it was given, or one of Tether's around it.
    package enum Handler {
        case plain(@Sendable (Notification) -> Void)
        case owned(@Sendable (AnyObject, Notification) -> Void)
    }

    // MARK: Waiting

    /// Has `signal` released when what is pending for it now, and what is being delivered, is behind it: delivered, or
    /// dropped, and let go of. False if nothing is pending, or if only a post could deliver it.
    package func releaseBehindPending(_ signal: any AnyObject & Sendable) -> Bool {
        guard let inbox = reference?.take()?.inbox else { return false }
        let route = inbox.route
        guard let mailbox = route.mailbox, mailbox.isDraining || inbox.counts.pending > 0 else { return false }
        // A registration that is in no center, with the same mailbox: its one delivery is behind all others there.
        let barrier = PlainRegistration(
            center: CenterCore(usesExactLifetimes: true), flags: Registration.State.once,
            site: RegistrationSite(file: #fileID, line: #line)
        ) { _ in withExtendedLifetime(signal) {} }
        barrier.makeInbox(route)
        barrier.receive(Notification(name: Notification.Name("Tether.barrier")))
        return true
    }

    /// Calls `action` when no handler of it runs on any thread; at once if none does.
    package func whenQuiescent(_ action: @escaping @Sendable () -> Void) {
        if !Quiescence.whenQuiescent(id, resume: action) { action() }
    }
}
