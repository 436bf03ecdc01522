internal import Foundation
internal import Synchronization

/// One registration as posts see it: the gate before a handler, which its subclasses have.
///
/// The center holds it until it ends, and its owner's list if it has one, so that what the handler captured is released
/// when the center lets the registration go (R8); a token refers to it without holding it.
///
/// A post may come to one that has been deinitialised, of which the center keeps the memory: until it has announced it and
/// then found the gate open, it reads nothing but `state` and `number`, whose bits stay where they are, and never retains it,
/// because the runtime ends a process in which what is being freed is retained.
///
/// SAFETY: `state` and `rare` are atomic; `slot` and `bucket` are only touched under the center's lock; `number` never changes
/// after the registration was published; of one that has gone no more is read than is said above.
@safe class Registration: @unchecked Sendable {
    /// The gate: 0 lets a post call the handler at once.
    struct State {
        static let ended: UInt8 = 1
        /// Runs once, and has not been claimed by a post yet.
        static let once: UInt8 = 2
        /// A once registration that a post has claimed.
        static let claimed: UInt8 = 4
        /// Deliveries pass through `inbox`.
        static let routed: UInt8 = 8
        /// The handler belongs to an actor, so that its target is not to be switched.
        static let isolated: UInt8 = 16
        /// It is an `OwnedRegistration`.
        static let owned: UInt8 = 32
        /// A hook is asked about every post.
        static let prepared: UInt8 = 64
        /// Its sender, or its center, has ended, and it with that.
        static let orphaned: UInt8 = 128
    }

    final let center: CenterCore
    final let site: RegistrationSite
    final let rare: RareParts
    /// Its bucket in the registry, while it is in one. Protected by the center's lock, as `slot` is.
    final var bucket: Unmanaged<Bucket>?
    final var slot: UInt32 = 0
    private final var number = UInt56(0)
    /// Last, beside the subclass's handler, because posts look at these two alone.
    final let state: Atomic<UInt8>

    /// `flags`: `State.once`, `.isolated` or `.owned`.
    init(center: CenterCore, details: Details?, flags: UInt8, site: RegistrationSite) {
        self.center = center
        self.site = site
        rare = RareParts(details)
        state = Atomic(flags | (details?.preparing == nil ? 0 : State.prepared))
        details?.hooks?.visit { $0.attached(to: self) }
    }

    /// Its place in the order of registration, never used again; 0 until the center has given it.
    final var id: UInt64 {
        get { number.value }
        set { number = UInt56(newValue) }
    }

    /// This as what it is, if it is attached to an owner.
    @inline(__always)
    final var owned: OwnedRegistration? {
        guard isOwned else { return nil }
        return unsafe unsafeDowncast(self, to: OwnedRegistration.self)
    }

    final var isOwned: Bool { state.load(ordering: .relaxed) & State.owned != 0 }

    final var isOnce: Bool { state.load(ordering: .relaxed) & State.once != 0 }
    /// Whether it is a once registration that a delivery has claimed.
    final var isClaimed: Bool { state.load(ordering: .acquiring) & State.claimed != 0 }
    final var isIsolated: Bool { state.load(ordering: .relaxed) & State.isolated != 0 }

    /// The inbox, if there is one, with deliveries on their way through it: another thread that makes it may not have got to
    /// that yet.
    final var routedInbox: Inbox? { inbox.map(makeInbox) }

    /// Has deliveries pass through an inbox; before the registration is added to its center, or by a switch.
    @discardableResult
    final func makeInbox(_ route: Route) -> Inbox { makeInbox(Inbox(route: route)) }

    @discardableResult
    final func makeInbox(_ made: Inbox) -> Inbox {
        let inbox = rare.setInboxIfNil(made, of: self)
        state.bitwiseOr(State.routed, ordering: .acquiringAndReleasing)
        return inbox
    }

    /// Its identity in pins, and where its memory is.
    ///
    /// SAFETY: read through by `RegistrationMemory` alone, which keeps to what stays when this has gone.
    final var address: UInt { unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    final var hasEnded: Bool { state.load(ordering: .sequentiallyConsistent) & State.ended != 0 }

    // MARK: Delivery

    /// Delivers a notification, which may be stored already; called from a post, whose pin announces this registration.
    @inline(__always)
    final func receive(_ notification: Notification, stored: StoredNotification? = nil) {
        let state = state.load(ordering: .sequentiallyConsistent)
        if _fastPath(state == 0) {
            callPlain(notification)
        } else if state == State.owned {
            callOwned(notification)
        } else {
            receiveSpecially(notification, stored: stored)
        }
    }

    /// Calls the handler, which is that of the subclass that the state tells.
    @inline(never)
    private final func call(_ notification: Notification, posted: UInt64 = 0) {
        if TraceEvent.isOn {
            traceCall(of: notification.name, posted: posted) { callUntraced(notification) }
        } else {
            callUntraced(notification)
        }
    }

    @inline(__always)
    private final func callUntraced(_ notification: Notification) {
        if isOwned {
            callOwned(notification)
        } else {
            callPlain(notification)
        }
    }

    @inline(__always)
    private final func callPlain(_ notification: Notification) {
        LockRank.checkNoneIsHeld()
        // SAFETY: the state tells the subclass; a cast would retain the handler.
        let address = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe Unmanaged<PlainRegistration>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.handler(notification) }
    }

    @inline(__always)
    private final func callOwned(_ notification: Notification) {
        LockRank.checkNoneIsHeld()
        // SAFETY: as above.
        let address = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe Unmanaged<OwnedRegistration>.fromOpaque(address)._withUnsafeGuaranteedRef {
            $0.callHandler(notification)
        }
    }

    /// The same, on ways that every handler's call is traced on.
    @inline(never)
    final func receiveSpecially(_ posted: Notification, stored: StoredNotification? = nil) {
        // The usual case where an inbox is there, without what only the others need.
        if state.load(ordering: .sequentiallyConsistent) & ~State.owned == State.routed {
            return rare.withInbox { $0.receive(posted, stored: stored, for: self) }
        }
        // Apart, so that a notification is not copied for a hook that is not there.
        if isPrepared {
            if let notification = prepare(posted) { receivePrepared(notification) }
        } else {
            receivePrepared(posted)
        }
    }

    private final func receivePrepared(_ notification: Notification) {
        var seen = state.load(ordering: .acquiring)
        // A routed delivery is claimed by the inbox, when it is known not to be muted.
        while seen & (State.ended | State.claimed | State.routed) == 0 {
            if seen & State.once == 0 { return call(notification) }
            if exchange(&seen, for: seen | State.claimed) {
                call(notification)
                return end(because: .usedUp)
            }
        }
        if seen & State.ended == 0, seen & State.routed != 0 {
            rare.withInbox { $0.receive(notification, for: self) }
        }
    }

    /// Whether there is a hook to ask.
    private final var isPrepared: Bool {
        state.load(ordering: .relaxed) & (State.prepared | State.ended) == State.prepared
    }

    /// Asks the hook, which there is.
    final func prepare(_ notification: Notification) -> Notification? {
        LockRank.checkNoneIsHeld()
        return details?.preparing?.prepare(notification, for: self)
    }

    /// Claims a once registration for a delivery that is about to wait, or to be made. One that converts what it is handed
    /// is claimed after that, because what makes no message does not use it up (R7).
    final func claimForDelivery() -> Bool {
        isOnce && convertsOnTarget ? !isClaimed : claim()
    }

    /// Claims a once registration for one delivery; false if another one has it (R7).
    final func claim() -> Bool {
        var seen = state.load(ordering: .acquiring)
        while seen & State.once != 0 {
            if seen & (State.ended | State.claimed) != 0 { return false }
            if exchange(&seen, for: seen | State.claimed) { break }
        }
        return true
    }

    /// Changes the state, unless it is not what was seen any more; that is then seen.
    private final func exchange(_ seen: inout UInt8, for new: UInt8) -> Bool {
        let (exchanged, original) = state.weakCompareExchange(
            expected: seen, desired: new, ordering: .acquiringAndReleasing)
        seen = original
        return exchanged
    }

    /// Whether what is posted away from the target is converted there.
    private final var convertsOnTarget: Bool { isPrepared && details?.preparing?.convertsOnTarget == true }

    /// Runs the handler for a delivery that found its target current and nothing pending there.
    final func runInline(_ notification: Notification) {
        callOnTarget(notification)
        if isClaimed { end(because: .usedUp) }
    }

    /// Runs the handler for a delivery that was pending, on its target, announced on this thread.
    final func run(_ delivery: Inbox.Delivery) {
        unsafe PostingThread.withPin(center: PostingThread.centerOfDrains, epoch: 0) { pin in
            unsafe PostingThread.announce(address, at: pin)
            callOnTarget(delivery.stored.notification, posted: delivery.posted)
        }
        if isClaimed { end(because: .usedUp) }
    }

    /// Calls the handler, on its target, with the notification or with what a hook makes of it there.
    @inline(__always)
    private final func callOnTarget(_ notification: Notification, posted: UInt64 = 0) {
        if convertsOnTarget {
            if let message = prepare(notification), !hasEnded, claim() { call(message, posted: posted) }
        } else if !hasEnded {
            call(notification, posted: posted)
        }
    }

    /// Takes the place of a former registration of the same observer; under the center's lock. Returns it to be finished, if
    /// nobody else has ended it.
    final func replace(_ old: RegistrationMemory) -> Registration? {
        // First, because a foreign center's posts take no lock, and would find a closed gate. One that has been added and is
        // open is held by the center as long as the lock is.
        if !old.hasEnded, old.wasAdded, let held = old.held { takeOver(from: held) }
        return old.close()
    }

    /// Takes over what an old registration's hooks have, if the same posts call the two; under the center's lock.
    final func takeOver(from old: Registration) {
        guard let hooks = details?.hooks, unsafe bucket?.toOpaque() == old.bucket?.toOpaque() else { return }
        hooks.visit { $0.takeOver(from: old, for: self) }
    }

    // MARK: The end

    /// Closes the gate; true for the one call that closed it.
    final func close() -> Bool {
        state.bitwiseOr(State.ended, ordering: .sequentiallyConsistent).oldValue & State.ended == 0
    }

    /// Ends the registration: no handler starts any more, and what it held is released (R1, R8).
    final func end(because cause: EndCause = .stopped) {
        if !hasEnded, close() { finish(because: cause) }
    }

    /// Takes note that it is going to end because its sender, or its center, has.
    final func orphan() { state.bitwiseOr(State.orphaned, ordering: .acquiringAndReleasing) }

    final var isOrphaned: Bool { state.load(ordering: .acquiring) & State.orphaned != 0 }

    /// The rest of an end, after the gate was closed, with no lock held.
    final func finish(because cause: EndCause = .stopped) {
        LockRank.checkNoneIsHeld()
        Looks.wait(for: self)
        let begun = TraceEvent.isOn ? traceEnd(because: cause) : 0
        defer { if begun > 0 { TraceEvent.end(begun) } }
        // Everything is taken out first and released last, so that a `deinit` which runs here sees the end done. What is
        // returned holds this, whoever else does not.
        let released = center.unlink(self)
        if rare.isEmpty, cause == .ownerEnded || !isOwned, !RegistrationEvents.isOn {
            return withExtendedLifetime(released) {}
        }
        let deliveries = inbox?.end()
        let observer = cause == .ownerEnded ? nil : owned.flatMap { OwnerTable.shared.detach($0) }
        if let details {
            if let sender = details.sender { OwnerTable.shared.unwatchSender(sender, for: center) }
            details.hooks?.visit { $0.ended(self) }
        }
        withExtendedLifetime((observer, deliveries)) {}
        withExtendedLifetime(released) { RegistrationEvents.ended(self) }
    }
}
