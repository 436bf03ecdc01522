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
/// SAFETY: `state` and `pendingSlot` are atomic; `slot` and `bucket` are only touched under the center's lock; `id` never
/// changes after the registration was published; of one that was deallocated no more is read than is said above.
@safe class Registration: @unchecked Sendable {
    /// The gate: 0 lets a post call the handler at once.
    struct State {
        static let ended: UInt32 = 1
        /// Runs once, and has not been claimed by a post yet.
        static let once: UInt32 = 2
        /// A once registration that a post has claimed.
        static let claimed: UInt32 = 4
        /// Deliveries pass through `pending`.
        static let routed: UInt32 = 8
        /// The handler belongs to an actor, so that its target is not to be switched.
        static let isolated: UInt32 = 16
        /// It is an `OwnedRegistration`.
        static let owned: UInt32 = 32
        /// A hook is asked about every post.
        static let prepared: UInt32 = 64
        /// Its sender, or its center, has ended, and it with that.
        static let orphaned: UInt32 = 128
    }

    final let center: CenterCore
    final let site: RegistrationSite
    /// What most registrations have none of.
    final let details: Details?
    /// The pending deliveries, retained, once there are any. Not an `AtomicLazyReference`, whose code is not specialised here.
    private final let pendingSlot = unsafe Atomic<UnsafeRawPointer?>(nil)
    /// Its bucket in the registry, while it is in one. Protected by the center's lock, as `slot` is.
    final var bucket: Unmanaged<Bucket>?
    final var slot: UInt32 = 0
    /// Its place in the order of registration, never used again; 0 until the center has given it.
    final var id: UInt64 = 0
    /// Last, beside the subclass's handler, because posts look at these two alone.
    final let state: Atomic<UInt32>

    /// `flags`: `State.once`, `.isolated` or `.owned`.
    init(center: CenterCore, details: Details?, flags: UInt32, site: RegistrationSite) {
        self.center = center
        self.site = site
        self.details = details
        state = Atomic(flags | (details?.preparing == nil ? 0 : State.prepared))
        details?.hooks?.visit { $0.attached(to: self) }
    }

    deinit {
        // SAFETY: the reference that `makePending` stored.
        if let address = unsafe pendingSlot.load(ordering: .acquiring) {
            unsafe Unmanaged<PendingDeliveries>.fromOpaque(address).release()
        }
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

    /// The pending deliveries, from the first time that the target is not the posting thread, or that it is muted or bounded.
    @inline(__always)
    final var pending: PendingDeliveries? {
        // SAFETY: this retains what the slot has, which never changes again.
        unsafe pendingSlot.load(ordering: .acquiring).map { unsafe Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// The pending deliveries, which this makes if there are none. Posts then pass through them.
    final var madePending: PendingDeliveries? {
        if isRouted { return pending }
        defer { center.noteRouted(self) }
        return makePending(on: .postingThread)
    }

    /// Has deliveries pass through pending ones on a target; before the registration is added to its center, or by a switch.
    /// `nil` if the registration is being deallocated.
    @discardableResult
    final func makePending(on target: BoundTarget) -> PendingDeliveries? {
        guard let made = PendingDeliveries(of: self, target: target) else { return nil }
        defer { state.bitwiseOr(State.routed, ordering: .acquiringAndReleasing) }
        // SAFETY: the slot's reference, which `deinit` releases.
        let reference = unsafe Unmanaged.passRetained(made)
        guard
            unsafe pendingSlot.compareExchange(
                expected: nil, desired: UnsafeRawPointer(reference.toOpaque()), ordering: .acquiringAndReleasing
            ).exchanged
        else {
            unsafe reference.release()
            return pending
        }
        return made
    }

    final var isRouted: Bool { state.load(ordering: .relaxed) & State.routed != 0 }

    /// The hook that takes the deliveries in the target's place.
    final var keeper: RegistrationHook? { details?.hooks?.first { $0.targetDescription != nil } }

    /// Its identity in pins, and where its memory is.
    ///
    /// SAFETY: read through by `RegistrationMemory` alone, which keeps to what stays when this has gone.
    final var address: UInt { unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    final var hasEnded: Bool { state.load(ordering: .sequentiallyConsistent) & State.ended != 0 }

    // MARK: Delivery

    /// Delivers a notification, which may be stored already; called from a post, whose hazard pointer this registration is.
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
        // Of a registration that a handler of this post has ended nothing more is read.
        if hasEnded { return }
        if isRouted {
            var post = Post(stored: stored)
            receiveRouted(posted, in: &post, mayCall: true)
            post.submit()
        } else if isPrepared {
            // Apart, so that a notification is not copied for a hook that is not there.
            if let notification = prepare(posted) { receiveUnrouted(notification) }
        } else {
            receiveUnrouted(posted)
        }
    }

    private final func receiveUnrouted(_ notification: Notification) {
        var seen = state.load(ordering: .acquiring)
        while seen & (State.ended | State.claimed | State.routed) == 0 {
            if seen & State.once == 0 { return call(notification) }
            if exchange(&seen, for: seen | State.claimed) {
                call(notification)
                return end(because: .usedUp)
            }
        }
        if seen & (State.ended | State.claimed) == 0 {
            // It was muted, or switched to another target, on another thread.
            var post = Post()
            receivePending(notification, in: &post, mayCall: true)
            post.submit()
        }
    }

    /// Takes a post through the pending deliveries. A call that is to be made on the posting thread is made if it may, or is
    /// added to the post's.
    final func receiveRouted(_ posted: Notification, in post: inout Post, mayCall: Bool) {
        guard isPrepared else { return receivePending(posted, in: &post, mayCall: mayCall) }
        if !mayCall, pending?.isCalledHere == true { return unsafe post.calls.append(.passUnretained(self)) }
        guard let notification = prepare(posted) else { return }
        post.withOwnNotification { receivePending(notification, in: &$0, mayCall: mayCall) }
    }

    private final func receivePending(_ notification: Notification, in post: inout Post, mayCall: Bool) {
        guard let pending else { return }
        switch pending.receive(notification, for: self, in: &post, mayCall: mayCall) {
        case .taken: break
        case .toBeCalled where mayCall: runInline(notification)
        case .toBeCalled: unsafe post.calls.append(.passUnretained(self))
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
    private final func exchange(_ seen: inout UInt32, for new: UInt32) -> Bool {
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

    /// Runs the handler for a delivery that was pending, on its target, as the hazard pointer of a guard, after the registration that was called
    /// before.
    final func run(
        _ delivery: PendingDeliveries.Delivery, after previous: inout UInt,
        at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        unsafe epochGuard.pointee.setHazardPointer(address, after: previous)
        previous = address
        callOnTarget(delivery.stored.notification, posted: delivery.posted)
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

    /// Ends the registration because its sender, or its center, has ended: what a sequence has is still taken (S2).
    final func endOrphaned() {
        orphan()
        end(because: .senderEnded)
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
        if details == nil, pending == nil, cause == .ownerEnded || !isOwned, !RegistrationEvents.isOn {
            return withExtendedLifetime(released) {}
        }
        let deliveries = pending?.end()
        let observer = cause == .ownerEnded ? nil : owned.flatMap { OwnerTable.shared.detach($0) }
        if let details {
            if let sender = details.sender { OwnerTable.shared.unwatchSender(sender, for: center) }
            details.hooks?.visit { $0.ended(self) }
        }
        withExtendedLifetime((observer, deliveries)) {}
        withExtendedLifetime(released) { RegistrationEvents.ended(self) }
    }
}

extension Registration {
    /// What most registrations have none of.
    ///
    /// SAFETY: a key's value is only compared and hashed; all else is Sendable.
    final class Details: @unchecked Sendable {
        let sender: OwnerRecord?
        let key: ObserverKey?
        /// The first of the hooks, which is a list of them.
        let hooks: RegistrationHook?
        /// The hook that is asked about every post.
        let preparing: RegistrationHook?

        init(sender: OwnerRecord? = nil, key: ObserverKey? = nil, hooks: RegistrationHook? = nil) {
            self.sender = sender
            self.key = key
            self.hooks = hooks
            preparing = hooks?.first(where: \.prepares)
        }
    }

    /// The slot of a registration that ended before it could be added.
    static let neverInASlot = UInt32.max
}
