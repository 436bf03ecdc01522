internal import Foundation
internal import Synchronization

/// One registration as posts see it: a handler behind a gate.
///
/// The center holds the only lasting reference, so that what the handler captured is released when the center lets
/// the registration go (R8); a token refers to it without holding it.
///
/// SAFETY: `handler` and `state` are the hot path, immutable and atomic; `slot` and `bucket` are only touched under
/// the center's lock; `details` never changes after the registration was published.
final class Registration: @unchecked Sendable {
    typealias Handler = @Sendable (Notification) -> Void

    /// The gate: 0 lets a post call the handler at once.
    struct State {
        static let ended: UInt32 = 1
        /// Runs once, and has not been claimed by a post yet.
        static let once: UInt32 = 2
        /// A once registration that a post has claimed.
        static let claimed: UInt32 = 4
        /// Deliveries pass through `inbox`.
        static let routed: UInt32 = 8
        /// The handler belongs to an actor, so that its target is not to be switched.
        static let isolated: UInt32 = 16
    }

    let handler: Handler
    let center: CenterCore
    let site: RegistrationSite
    let state: Atomic<UInt32>
    /// What most registrations have no need of.
    let details: Details?
    /// What is pending, from the first time that the target is not the poster.
    let inbox = LazyReference<Inbox>()
    /// Never used again; 0 until the center has given it.
    var id: UInt64 = 0
    var slot: UInt32 = 0
    var bucket: Bucket?

    /// What most registrations have no need of.
    ///
    /// SAFETY: a key's value is only compared and hashed; all else is Sendable.
    final class Details: @unchecked Sendable {
        let attachment: Attachment?
        let sender: OwnerRecord?
        let senderDescription: String?
        let key: ObserverKey?
        /// What a foreign center calls.
        let foreign: ForeignReceiver?

        init(
            attachment: Attachment? = nil, sender: OwnerRecord? = nil, senderDescription: String? = nil,
            key: ObserverKey? = nil, foreign: ForeignReceiver? = nil
        ) {
            self.foreign = foreign
            self.attachment = attachment
            self.sender = sender
            self.senderDescription = senderDescription
            self.key = key
        }
    }

    init(
        center: CenterCore, route: Route, details: Details? = nil, isOnce: Bool = false, isIsolated: Bool = false,
        site: RegistrationSite, handler: @escaping Handler
    ) {
        self.handler = handler
        self.center = center
        self.site = site
        state = Atomic((isOnce ? State.once : 0) | (isIsolated ? State.isolated : 0))
        self.details = details
        if !route.isPoster { _ = makeInbox(route) }
    }

    var isOnce: Bool { state.load(ordering: .relaxed) & State.once != 0 }
    var isIsolated: Bool { state.load(ordering: .relaxed) & State.isolated != 0 }

    private func makeInbox(_ route: Route) -> Inbox {
        let inbox = inbox.storeIfNil(Inbox(route: route))
        state.bitwiseOr(State.routed, ordering: .acquiringAndReleasing)
        return inbox
    }

    /// Its identity in posting frames.
    var address: UInt { unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    var hasEnded: Bool { state.load(ordering: .acquiring) & State.ended != 0 }

    // MARK: Delivery

    /// Delivers a notification; called from a post, whose frame announces this registration.
    @inline(__always)
    func receive(_ notification: Notification) {
        if state.load(ordering: .acquiring) == 0 { handler(notification) } else { receiveSpecially(notification) }
    }

    @inline(never)
    private func receiveSpecially(_ notification: Notification) {
        let state = claim()
        guard state & State.ended == 0 else { return }
        guard state & State.claimed == 0 else {
            // The delivery that claimed it may have been left to the next post, by a switch to the poster (D6).
            inbox.load()?.deliverLeftovers(for: self)
            return
        }
        if state & State.routed != 0, let inbox = inbox.load() {
            inbox.receive(notification, for: self)
        } else {
            handler(notification)
            if isOnce { end() }
        }
    }

    /// Claims a once registration for one post; returns the state as it was before.
    private func claim() -> UInt32 {
        var seen = state.load(ordering: .acquiring)
        while seen & State.once != 0, seen & (State.ended | State.claimed) == 0 {
            let (exchanged, original) = state.weakCompareExchange(
                expected: seen, desired: seen | State.claimed, ordering: .acquiringAndReleasing)
            if exchanged { return original }
            seen = original
        }
        return seen
    }

    /// Runs the handler for a delivery that found its target current and nothing pending there.
    func runInline(_ notification: Notification) {
        if !hasEnded { handler(notification) }
        if isOnce { end() }
    }

    /// Runs the handler for a delivery that was pending, on its target, announced on this thread.
    func run(_ notification: Notification) {
        let thread = PostingThread.current
        let frame = unsafe thread.begin(center: PostingThread.centerOfDrains, era: 0)
        unsafe PostingThread.announce(address, at: frame)
        if !hasEnded { handler(notification) }
        unsafe thread.end(frame)
        if isOnce { end() }
    }

    // MARK: The end

    /// Closes the gate; true for the one call that closed it.
    func close() -> Bool {
        state.bitwiseOr(State.ended, ordering: .acquiringAndReleasing).oldValue & State.ended == 0
    }

    /// Ends the registration: no handler starts any more, and what it held is released (R1, R8).
    func end() {
        if close() { finish() }
    }

    /// Ends the registration, whose sender has gone, as soon as what is pending for it has been delivered (M5).
    func endAfterPending() {
        if let inbox = inbox.load() { inbox.endAfterPending(self) } else { end() }
    }

    /// What follows the closing of the gate, with no lock held.
    func finish() {
        // Everything is taken out first and released last, so that a `deinit` which runs here sees the end done.
        let released = center.unlink(self)
        var observer: NotificationObserver?
        if let attachment = details?.attachment { observer = OwnerTable.shared.detach(attachment) }
        let deliveries = inbox.load()?.end()
        if let sender = details?.sender { OwnerTable.shared.unwatchSender(sender, for: center) }
        if let foreign = details?.foreign {
            foreign.end()
            center.foreignCenter.map(ForeignCenters.shared.release)
        }
        withExtendedLifetime((released, observer, deliveries)) {}
        RegistrationWatch.ended(self)
    }

    // MARK: The target switch

    /// Sends what is delivered from now on to another target (D6).
    func redirect(to route: Route) {
        if let inbox = inbox.load() {
            inbox.redirect(to: route)
        } else if !route.isPoster {
            makeInbox(.poster).redirect(to: route)
        }
    }
}

/// Where in the source an observer was registered.
///
/// SAFETY: the name of the file is a literal's, which stays.
@safe struct RegistrationSite: @unchecked Sendable {
    /// The address of the file's name in the lower 48 bits, the line, or the largest that fits, in the upper 16.
    private let bits: UInt64

    init(file: StaticString, line: UInt) {
        let address = unsafe file.hasPointerRepresentation ? UInt64(UInt(bitPattern: file.utf8Start)) : 0
        bits = address & 0xFFFF_FFFF_FFFF | UInt64(min(line, 0xFFFF)) << 48
    }

    var file: String {
        guard let name = unsafe UnsafePointer<CChar>(bitPattern: UInt(bits & 0xFFFF_FFFF_FFFF)) else { return "" }
        return unsafe String(cString: name)
    }

    var line: Int { Int(bits >> 48) }
}

/// What makes an observer with a `key` the only one (M7).
struct ObserverKey: Hashable, @unchecked Sendable {
    // SAFETY: a key is only compared and hashed; its `==` and `hash(into:)` are promised to be pure (R6).
    let owner: ObjectIdentifier?
    let key: AnyHashable
}
