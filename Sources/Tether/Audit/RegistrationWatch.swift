package import Foundation
internal import Synchronization

/// What `TetherTesting` hears of registrations and centers; a program that never asked for it pays one relaxed load for
/// a registration, nothing for a post.
package enum RegistrationWatch {
    /// Stands for one center, and never for another one.
    package typealias CenterNumber = UInt64

    /// What is called, on the thread where it happens, with no lock held.
    package struct Listener: Sendable {
        let registered: @Sendable (WatchedRegistration, _ owner: AnyObject?) -> Void
        let ended: @Sendable (WatchedRegistration.ID) -> Void
        let centerMade: @Sendable (CenterNumber) -> Void
        /// Before the center ends its observers.
        let centerEnds: @Sendable (CenterNumber) -> Void

        package init(
            registered: @escaping @Sendable (WatchedRegistration, _ owner: AnyObject?) -> Void,
            ended: @escaping @Sendable (WatchedRegistration.ID) -> Void,
            centerMade: @escaping @Sendable (CenterNumber) -> Void,
            centerEnds: @escaping @Sendable (CenterNumber) -> Void
        ) {
            self.registered = registered
            self.ended = ended
            self.centerMade = centerMade
            self.centerEnds = centerEnds
        }
    }

    private static let isOn = Atomic<Bool>(false)
    private static let listener = Guarded<Listener?>(nil)

    /// Starts the listening, for the rest of the process.
    package static func listen(_ new: Listener) {
        listener.withLock { $0 = new }
        isOn.store(true, ordering: .releasing)
    }

    private static var current: Listener? {
        guard isOn.load(ordering: .relaxed) else { return nil }
        return listener.withLock(\.self)
    }

    @inline(__always)
    static func registered(
        _ registration: Registration, as request: ObservationRequest, by observer: NotificationObserver
    ) {
        if isOn.load(ordering: .relaxed) { tell(registration, as: request, by: observer) }
    }

    @inline(never)
    private static func tell(
        _ registration: Registration, as request: ObservationRequest, by observer: NotificationObserver
    ) {
        let watched = WatchedRegistration(registration, name: request.name, token: observer)
        current?.registered(watched, registration.owned?.record?.reference.take())
    }

    @inline(__always)
    static func ended(_ registration: Registration) {
        if isOn.load(ordering: .relaxed) { current?.ended(registration.address) }
    }

    static func centerMade(_ core: CenterCore) { current?.centerMade(core.number) }

    static func centerEnds(_ core: CenterCore) { current?.centerEnds(core.number) }
}

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
    private let reference: OwnerReference<Registration>?
    /// The registration's token, as long as it lives.
    package private(set) weak var token: AnyObject?

    init(_ registration: Registration, name: Notification.Name?, token: NotificationObserver) {
        reference = OwnerReference(registration)
        self.token = token
        self.name = name
        id = registration.address
        file = registration.site.file
        line = registration.site.line
        center = registration.center.number
        isAttached = registration.owned?.record != nil
    }

    package var isActive: Bool { reference?.take()?.hasEnded == false }

    /// The object whose life bounds it; `nil` once that has gone, too.
    package var owner: AnyObject? { reference?.take()?.owned?.record?.reference.take() }

    /// How many deliveries wait for it, and where.
    package var pending: (count: Int, target: String) {
        guard let inbox = reference?.take()?.inbox.load() else { return (0, "poster") }
        return (inbox.counts.pending, inbox.target.description)
    }

    /// What waits for it.
    package var pendingNotifications: [Notification] {
        reference?.take()?.inbox.load()?.notifications ?? []
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
        guard let inbox = reference?.take()?.inbox.load() else { return false }
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
