internal import COwnerLifetime
internal import Foundation
internal import Synchronization

/// One observer in its center: a handler, which the subclasses store, behind a `state` that each
/// call reads.
///
///     registered ──▶ (once: claimed by one delivery) ──▶ ended: `close()`, by one thread ──▶ `completeEnd`: unlinked and released
///
/// *Retained by* its center, and by its owner's list, until its end. The registration of an owner's
/// task, loop or closure is in no center. A token or an audit has an `Unowned` reference, and
/// retains the registration for a call. So the observer's end releases the handler's captures (R8).
///
/// *Posts do not retain it.* A post may find the address of a deinitialised registration, whose
/// memory the center keeps for such posts (Threads/Reclamation.swift). A post sets its hazard
/// pointer before it asks `state` for the end; the bit `routed` may be read earlier. Until a post
/// has found the state open, it reads `state` and `id` alone, and does not retain the registration.
///
/// *From a post to the handler*, four verbs:
///
/// | Verb | Called by | Does |
/// |---|---|---|
/// | `ask` | a post | passes the notification through the mailbox, if the registration is routed |
/// | `receive` | a post | calls the handler at once, if the state is plain; else by `perform` |
/// | `perform` | a post, a block, an unmuting | converts on the target if a hook asks, calls the handler, and ends a claimed once registration |
/// | `call` | `perform` | calls the handler, and reports the call to a trace |
///
/// *Who keeps a registration for a running call*, and releases it, if the observer ends meanwhile:
///
/// | Call by | Kept by | Released by |
/// |---|---|---|
/// | a post | the garbage of the center, because of the hazard pointer | the post's end |
/// | an unmuting | a reference in `InlineCall` | the end of `unmute` |
/// | a block | `Mailbox.Extras.registrationForCall` | the handler's return |
/// | a foreign center | a reference in the closure's stack frame | the closure's return |
/// | an async call | `AsyncRun` | the end of the task's call |
///
/// A block that waits needs the mailbox alone, which `Extras.selfForBlocks` keeps.
///
/// SAFETY: each field states its protection; posts read a deinitialised registration as said above.
@safe class Registration: @unchecked Sendable {
    /// The bits of a state. A state with none, or with `owned` alone, is *plain*: a post calls the
    /// handler at once.
    struct StateBits {
        static let ended: UInt32 = 1
        /// The registration runs once. The bit stays after the claim.
        static let once: UInt32 = 2
        /// A delivery has claimed the once registration.
        static let claimed: UInt32 = 4
        /// Every post passes through `mailbox`, and takes its lock: the registration is *routed*.
        /// The bit stays, also after the last unmuting.
        static let routed: UInt32 = 8
        /// The handler is isolated or async, so the target must not be switched.
        static let isolated: UInt32 = 16
        /// The registration is an `OwnedRegistration`.
        static let owned: UInt32 = 32
        /// A hook prepares the notification of every post.
        static let preparing: UInt32 = 64
        /// The slots count the registration among the routed ones. Written under the center's lock,
        /// and never removed.
        static let counted: UInt32 = 128
        /// The registration is never added to a center.
        static let outside: UInt32 = 256
    }

    final let center: CenterCore
    /// `nil` in most registrations.
    final let details: Details?
    /// The mailbox, retained, if any. Not an `AtomicLazyReference`, whose generic code
    /// the compiler does not specialise here.
    private final let mailboxSlot = unsafe Atomic<UnsafeRawPointer?>(nil)
    /// The registration's bucket in the registry, or `nil`. Protected by the center's lock.
    final var bucket: Unmanaged<Bucket>?
    /// The rank in registration order, never reused: 0 until the registration is added, and
    /// `endedBeforeAddition` if it ended before. Written once, under the center's lock, before
    /// posts find the registration.
    final var id: UInt64 = 0
    /// The id of a registration that ended before it could be added, and so is never added.
    static var endedBeforeAddition: UInt64 { .max }
    final let site: RegistrationSite
    /// Last, beside the subclass's handler, because the fast path of a post reads these two alone.
    final let state: Atomic<UInt32>

    /// `flags`: `StateBits.once`, `.isolated`, `.owned` or `.outside`.
    init(center: CenterCore, details: Details?, flags: UInt32, site: RegistrationSite) {
        self.center = center
        self.site = site
        self.details = details
        state = Atomic(flags | (details?.preparing == nil ? 0 : StateBits.preparing))
        guard let details else { return }
        for hook in details.hooks { hook.attached(to: self) }
    }

    deinit {
        // SAFETY: `makeMailbox` stored the reference.
        unsafe unretainedMailbox?.release()
    }

    @inline(__always)
    final var owned: OwnedRegistration? {
        guard isOwned else { return nil }
        return unsafe unsafeDowncast(self, to: OwnedRegistration.self)
    }

    final var isOwned: Bool { state.load(ordering: .relaxed) & StateBits.owned != 0 }
    final var isOutside: Bool { state.load(ordering: .relaxed) & StateBits.outside != 0 }
    final var isOnce: Bool { state.load(ordering: .relaxed) & StateBits.once != 0 }
    final var isClaimed: Bool { state.load(ordering: .acquiring) & StateBits.claimed != 0 }
    final var isIsolated: Bool { state.load(ordering: .relaxed) & StateBits.isolated != 0 }

    /// Made for any target but the posting thread, and for muting and bounds; `nil` before.
    @inline(__always)
    final var mailbox: Mailbox? {
        // SAFETY: the caller gets a reference of its own.
        unsafe unretainedMailbox?.takeUnretainedValue()
    }

    @inline(__always)
    private final var unretainedMailbox: Unmanaged<Mailbox>? {
        // SAFETY: the slot keeps its first content until `deinit`.
        unsafe mailboxSlot.load(ordering: .acquiring).map { unsafe .fromOpaque($0) }
    }

    /// The mailbox, made at the first call. Posts then pass through it.
    final func makeMailboxIfNeeded() -> Mailbox {
        // Not `mailbox` alone: another thread may have stored it, and not have set `routed` yet.
        let made = isRouted ? mailbox : nil
        let mailbox = made ?? makeMailbox(on: nil)
        // Also for a thread that finds it made: the other thread may not have noted it yet.
        center.noteRouted(self)
        return mailbox
    }

    /// Makes a mailbox with a target; `nil` for the posting thread. Called before the
    /// registration is added to its center, by a switch, by a muting, and by a bound.
    @discardableResult
    final func makeMailbox(on target: BlockTarget?) -> Mailbox {
        let mailbox = storeMailbox(on: target)
        let old = state.bitwiseOr(StateBits.routed, ordering: .acquiringAndReleasing).oldValue
        // An end that came before has not found the mailbox.
        if old & StateBits.ended != 0 { _ = mailbox.end(of: self) }
        return mailbox
    }

    /// Stores a mailbox in the slot, or finds the one that another thread has stored.
    private final func storeMailbox(on target: BlockTarget?) -> Mailbox {
        // SAFETY: the slot takes over the reference, and `deinit` releases the reference.
        let made = unsafe Unmanaged.passRetained(Mailbox(of: self, target: target))
        let (isStored, known) = unsafe mailboxSlot.compareExchange(
            expected: nil, desired: UnsafeRawPointer(made.toOpaque()),
            ordering: .acquiringAndReleasing)
        guard !isStored, let known = unsafe known else { return unsafe made.takeUnretainedValue() }
        unsafe made.release()
        // SAFETY: the slot retains its first content until `deinit`.
        return unsafe Unmanaged.fromOpaque(known).takeUnretainedValue()
    }

    final var isCountedAsRouted: Bool { state.load(ordering: .relaxed) & StateBits.counted != 0 }

    final func noteCountedAsRouted() { state.bitwiseOr(StateBits.counted, ordering: .relaxed) }

    /// Acquiring: a post that finds the bit also finds the mailbox.
    final var isRouted: Bool { state.load(ordering: .acquiring) & StateBits.routed != 0 }

    /// Whether the handler's form, or a hook, decides where the handler runs.
    final var isTargetFixed: Bool { isIsolated || targetStandIn != nil }

    /// Switches registrations without a fixed target, with their pending deliveries (D6).
    static func redirect(_ registrations: [Registration], to target: DeliveryTarget) {
        for registration in registrations {
            Events.report(.switched(to: target, at: registration.site))
        }
        if let blockTarget = target.blockTarget {
            Mailbox.redirect(
                registrations.map { $0.makeMailboxIfNeeded() }, to: blockTarget.copyForObserver())
        } else {
            Mailbox.redirect(registrations.compactMap(\.mailbox), to: nil)
        }
    }

    /// The registration's identity in hazard pointers.
    final var address: RegistrationAddress { RegistrationAddress(of: self) }

    /// Whether `close` was called: no handler starts any more. The captures may not be released
    /// yet.
    final var hasEnded: Bool {
        state.load(ordering: .sequentiallyConsistent) & StateBits.ended != 0
    }

    /// Closes the state; true for the one closing call.
    final func close() -> Bool {
        state.bitwiseOr(StateBits.ended, ordering: .sequentiallyConsistent).oldValue
            & StateBits.ended == 0
    }

    // MARK: Delivery

    /// Delivers a notification here. Called by a post whose hazard pointer is this registration, and
    /// which has asked the registration if it is routed.
    @inline(__always)
    final func receive(_ notification: Notification) {
        let state = state.load(ordering: .sequentiallyConsistent)
        if _fastPath(state == 0) {
            callPlain(notification)
        } else if state == StateBits.owned {
            callOwned(notification)
        } else {
            receiveInAnyState(notification)
        }
    }

    @inline(never)
    private final func call(
        _ notification: Notification, waitedSince moment: ObserverEvent.Moment? = nil
    ) {
        guard Events.areTraced else { return callUntraced(notification) }
        let begun = Events.report(.call(self, notification.name, waitedSince: moment))
        callUntraced(notification)
        Events.end(begun)
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
        // SAFETY: the state gives the subclass; a cast would retain the handler.
        let address = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe Unmanaged<PlainRegistration>.fromOpaque(address)._withUnsafeGuaranteedRef {
            $0.handler(notification)
        }
    }

    @inline(__always)
    private final func callOwned(_ notification: Notification) {
        LockRank.checkNoneIsHeld()
        // SAFETY: the state gives the subclass.
        let address = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe Unmanaged<OwnedRegistration>.fromOpaque(address)._withUnsafeGuaranteedRef {
            $0.callHandler(notification)
        }
    }

    /// Delivers a notification here in any state. A call, if any, is traced.
    @inline(never)
    final func receiveInAnyState(_ posted: Notification) {
        // Separate, so a notification is not copied without a hook.
        guard preparesPosts else { return receivePrepared(posted) }
        if let notification = prepare(posted) { receivePrepared(notification) }
    }

    /// Delivers a notification, which a hook has prepared if there is one, here.
    private final func receivePrepared(_ notification: Notification) {
        if !hasEnded, mayTakeDelivery() { perform(notification) }
    }

    /// Delivers to a registration that no other observer of the post stands beside.
    final func receiveAlone(_ posted: Notification, stored: StoredNotification?) {
        let state = state.load(ordering: .sequentiallyConsistent)
        guard state & StateBits.routed != 0 else { return receiveInAnyState(posted) }
        if state & (StateBits.once | StateBits.preparing | StateBits.ended) == 0,
            let mailbox = unsafe unretainedMailbox
        {
            switch unsafe mailbox._withUnsafeGuaranteedRef({ $0.takeAlone(posted, stored) }) {
            case .taken:
                return
            case .appended(let slot, let target):
                // A user's scheduler may wait for the end of the observer.
                ThreadRecord.clearHazardPointer(after: address)
                return target.schedule(Block(slot))
            case .call:
                return receiveInAnyState(posted)
            case .undecided:
                break
            }
        }
        var waiting = WaitingForm(stored)
        var post = Post()
        let call = ask(posted, as: &waiting, of: &post)
        post.effects.carryOut(afterCallOf: address)
        if let call { make(call, of: posted) }
    }

    /// Makes a call that `ask` has left to the post. A call, if any, is traced.
    final func make(_ call: PostedCall, of posted: Notification) {
        if let prepared = call.prepared {
            receivePrepared(prepared.notification)
        } else {
            receiveInAnyState(posted)
        }
    }

    /// Passes a post through the mailbox of a routed registration, after a hook has
    /// prepared the notification. Returns the call, if the post is to make one. A hook also prepares
    /// for an observer that is finishing or whose sender has ended, and then in vain.
    final func ask(_ posted: Notification, as waiting: inout WaitingForm, of post: inout Post)
        -> PostedCall?
    {
        if hasEnded { return nil }
        guard preparesPosts else {
            return askMailbox(posted, as: &waiting, of: &post)
                ? unsafe PostedCall(of: .passUnretained(self)) : nil
        }
        guard let prepared = prepare(posted) else { return nil }
        var waiting = WaitingForm()
        guard askMailbox(prepared, as: &waiting, of: &post) else { return nil }
        return unsafe PostedCall(of: .passUnretained(self), with: StoredNotification(prepared))
    }

    private final func askMailbox(
        _ notification: Notification, as waiting: inout WaitingForm, of post: inout Post
    ) -> Bool {
        // SAFETY: the caller's hazard pointer keeps the registration, and so the mailbox.
        unsafe unretainedMailbox?._withUnsafeGuaranteedRef {
            $0.receive(notification, as: &waiting, of: &post, for: self)
        } ?? false
    }

    private final var preparesPosts: Bool {
        state.load(ordering: .relaxed) & (StateBits.preparing | StateBits.ended)
            == StateBits.preparing
    }

    /// Calls the hook, which exists if the state has `preparing`.
    final func prepare(_ notification: Notification) -> Notification? {
        LockRank.checkNoneIsHeld()
        return details?.preparing?.prepare(notification, for: self)
    }

    /// Whether a delivery may wait or be made; false if another has the claim of a once
    /// registration (R7). Claims the registration, unless the hook converts notifications on the
    /// target: then the claim follows the conversion, because a notification without a message uses
    /// up none.
    final func mayTakeDelivery() -> Bool {
        if isOnce, convertsOnTarget { return !isClaimed }
        return claim()
    }

    /// Claims a once registration for one delivery; false if another delivery has the claim, or if
    /// a once registration has ended (R7).
    final func claim() -> Bool {
        var seen = state.load(ordering: .acquiring)
        while seen & StateBits.once != 0 {
            if seen & (StateBits.ended | StateBits.claimed) != 0 { return false }
            if exchange(&seen, for: seen | StateBits.claimed) { break }
        }
        return true
    }

    /// Changes the state from `seen`. If the state has changed since, `seen` becomes the new state.
    private final func exchange(_ seen: inout UInt32, for new: UInt32) -> Bool {
        let (exchanged, original) = state.weakCompareExchange(
            expected: seen, desired: new, ordering: .acquiringAndReleasing)
        seen = original
        return exchanged
    }

    /// Whether a notification posted away from the target is converted on the target.
    private final var convertsOnTarget: Bool {
        preparesPosts && details?.preparing?.convertsOnTarget == true
    }

    /// Calls the handler, on its target, with the notification or with the message from a hook.
    /// Ends a claimed once registration, unless its async handler has yet to return.
    final func perform(
        _ notification: Notification, waitedSince moment: ObserverEvent.Moment? = nil
    ) {
        if convertsOnTarget {
            if let message = prepare(notification), !hasEnded, claim() {
                call(message, waitedSince: moment)
            }
        } else if !hasEnded {
            call(notification, waitedSince: moment)
        }
        if isClaimed, !callsReturnLater { end(because: .usedUp) }
    }

    /// Whether a hook ends a once registration, when the async handler has returned (R7).
    private final var callsReturnLater: Bool {
        details?.hooks.contains(where: \.callsReturnLater) ?? false
    }

    /// Performs a pending delivery, with the registration as the hazard pointer. `previous`: the
    /// registration that the block, or the unmuting, called last.
    final func perform(
        _ delivery: DeliveryQueue.Delivery, after previous: inout RegistrationAddress,
        at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        unsafe epochGuard.pointee.moveHazardPointer(to: address, from: &previous)
        if let moment = delivery.waitsSince { Events.report(.delivered(since: moment)) }
        perform(delivery.stored.notification, waitedSince: delivery.waitsSince)
    }
}

extension Unowned where Object: Registration {
    var registrationAddress: RegistrationAddress { RegistrationAddress(bits: address) }
}

extension Registration {
    /// At most one hook of a registration prepares notifications, and at most one stands in for the
    /// target.
    /// SAFETY: a key's value is only compared and hashed; all other parts are Sendable.
    final class Details: @unchecked Sendable {
        let sender: ObjectRecord?
        let key: ObserverKey?
        let hooks: RegistrationHooks
        let preparing: RegistrationHook?

        /// `hook`: the first one.
        init(sender: ObjectRecord? = nil, key: ObserverKey? = nil, hook: RegistrationHook? = nil) {
            self.sender = sender
            self.key = key
            hooks = RegistrationHooks(hook)
            preparing = hooks.first(where: \.prepares)
        }
    }
}

// MARK: The two kinds

/// A registration whose handler takes only the notification.
/// SAFETY: `handler` never changes.
final class PlainRegistration: Registration, @unchecked Sendable {
    let handler: @Sendable (Notification) -> Void

    init(
        center: CenterCore, details: Details? = nil, flags: UInt32 = 0, site: RegistrationSite,
        handler: @escaping @Sendable (Notification) -> Void
    ) {
        self.handler = handler
        super.init(center: center, details: details, flags: flags, site: site)
    }
}

/// A registration attached to an owner. The handler also takes the owner.
/// SAFETY: each field states its protection.
@safe final class OwnedRegistration: Registration, @unchecked Sendable {
    /// The observer's token for the owner and the user.
    typealias Token = AnyObject & Sendable
    typealias Handler<Owner> = @Sendable (Owner, Notification) -> Void

    let handler: Handler<AnyObject>
    /// The owner's record, retained here, so posts need not retain it; `nil` if the owner was being
    /// deinitialised. Written once, before posts find the registration.
    var ownerRecord: Unmanaged<ObjectRecord>?

    // The place in the owner's list. Protected by the lock of the owner's shard. After a removal,
    // these fields belong to the removing thread if it closed the state, and otherwise to nobody.
    var token: (any Token)?
    var next: OwnedRegistration?
    /// The previous registration; `nil` for the first, and itself while the registration is in no
    /// list.
    var previous: Unmanaged<OwnedRegistration>?

    private init(
        center: CenterCore, details: Details?, flags: UInt32, site: RegistrationSite,
        form: Form<AnyObject>
    ) {
        handler = form.function
        super.init(center: center, details: details, flags: flags | StateBits.owned, site: site)
        unsafe previous = .passUnretained(self)
    }

    @inline(__always)
    convenience init<Owner: AnyObject>(
        center: CenterCore, details: Details?, flags: UInt32, site: RegistrationSite,
        handler: @escaping Handler<Owner>
    ) {
        // SAFETY: a function takes an instance of any class in the same way, and this handler is
        // only called with the owner. The cast is of a struct, because a cast of the function alone
        // adds a thunk.
        let form = unsafe unsafeBitCast(Form(function: handler), to: Form<AnyObject>.self)
        self.init(center: center, details: details, flags: flags, site: site, form: form)
    }

    /// The center of the registrations that are in no center: no post reaches it.
    private static let coreOfWork = CenterCore()

    /// Makes a registration in no center, for the end of its future owner, which the hook reports.
    /// The handler is never called; it holds what leak checks look through.
    convenience init(
        forEndReportedTo hook: RegistrationHook, key: ObserverKey? = nil, site: RegistrationSite,
        holding held: @escaping Handler<AnyObject> = { _, _ in }
    ) {
        self.init(
            center: OwnedRegistration.coreOfWork, details: Details(key: key, hook: hook),
            flags: StateBits.outside, site: site, handler: held)
    }

    private struct Form<Owner: AnyObject> { let function: Handler<Owner> }

    deinit { _ = unsafe ownerRecord?.takeRetainedValue() }

    var record: ObjectRecord? { unsafe ownerRecord?.takeUnretainedValue() }

    // SAFETY: only addresses are compared.
    var isListed: Bool { unsafe previous?.toOpaque() != Unmanaged.passUnretained(self).toOpaque() }

    /// Calls the handler with the owner, which is retained for the call (O4, O9).
    @inline(__always)
    func callHandler(_ notification: Notification) {
        // SAFETY: the registration retains the record.
        guard let owner = unsafe ownerRecord?._withUnsafeGuaranteedRef({ $0.reference.retained })
        else {
            return noticeOwnerEnd()
        }
        handler(owner, notification)
    }

    /// Ends the observers of an owner whose end was not seen (O10).
    @inline(never)
    private func noticeOwnerEnd() {
        if let record { ObjectTable.shared.noticeEnd(of: record) }
    }
}
