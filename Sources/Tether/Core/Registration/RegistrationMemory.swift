internal import COwnerLifetime
internal import Synchronization

/// The memory of a registration that another thread may end, and let go of, at any moment.
///
/// What a handler captured goes with its observer's end (R8), so nobody who has a token, a list of observers or an inbox
/// may be the last to hold the registration. This asks the gate, whose bits stay where they are; ends a registration by
/// closing its gate before anything else is done with it; and looks at the rest in `look`.
///
/// SAFETY: whoever makes one keeps the memory, by an unowned reference, for as long as this is used.
@safe struct RegistrationMemory: Sendable {
    /// Where it is, which is the registration's identity in pins, too.
    let address: UInt

    @unsafe init(at address: UnsafeMutableRawPointer) { self.address = UInt(bitPattern: address) }

    init(of registration: Registration) { address = registration.address }

    /// SAFETY: as above; what has gone is not retained.
    private var unmanaged: Unmanaged<Registration> {
        unsafe Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: address)!)
    }

    var hasEnded: Bool { unsafe unmanaged._withUnsafeGuaranteedRef { $0.hasEnded } }

    /// Whether its center has ever had it.
    var wasAdded: Bool { unsafe unmanaged._withUnsafeGuaranteedRef { $0.id > 0 } }

    var isOnce: Bool { unsafe unmanaged._withUnsafeGuaranteedRef { $0.isOnce } }

    var isClaimed: Bool { unsafe unmanaged._withUnsafeGuaranteedRef { $0.isClaimed } }

    /// Whether the last strong reference has gone, and with it the last of its handlers has returned.
    var hasGone: Bool { unsafe tether_has_ended(unmanaged.toOpaque()) }

    /// Ends the registration, if no other thread does.
    func end(because cause: EndCause = .stopped) {
        guard !hasEnded else { return }
        if unsafe unmanaged._withUnsafeGuaranteedRef({ $0.isOwned }) {
            close()?.finish(because: cause)
        } else if unsafe unmanaged._withUnsafeGuaranteedRef({ $0.close() }) {
            // Not held, which costs as much as closing it: its center holds it, or the call that registers it, until it is taken
            // out, and from then on `finish` itself. Only one with an owner can be in no center, and held by nobody.
            unsafe unmanaged._withUnsafeGuaranteedRef { $0.finish(because: cause) }
        }
    }

    /// Closes the gate, if no other thread does; returns the registration, which the caller is to `finish`.
    func close() -> Registration? {
        guard !hasEnded, unsafe unmanaged._withUnsafeGuaranteedRef({ $0.close() }) else { return nil }
        // Its center holds it until the thread that has closed its gate, this one, takes it out, and before it is added the
        // call that registers it, which then adds nothing. One that is in no center may have gone with its owner's list,
        // which leaves nothing to undo.
        return held
    }

    /// Ends the registration because its sender, or its center, has ended: what a sequence has is still taken (S2).
    func endOrphaned() {
        guard !hasEnded else { return }
        unsafe unmanaged._withUnsafeGuaranteedRef { $0.orphan() }
        end(because: .senderEnded)
    }

    /// Ends the registration, if it is of a sender, which has gone, as soon as what is pending for it has been delivered (M5).
    func endAfterPending(of sender: OwnerRecord) {
        let found = look { registration -> (isOfSender: Bool, pending: PendingDeliveries?)? in
            (registration.details?.sender === sender, registration.pending)
        }
        // Not covered: one that another thread ends just now, or of a new object at the address, which `.ci/apple run` has.
        guard let found, found.isOfSender else { return }
        if let pending = found.pending { pending.endAfterPending() } else { endOrphaned() }
    }

    /// Returns what `body` makes of the registration, unless it has ended; whoever ends it waits for that.
    ///
    /// `body` is called under a lock: it calls nothing of the user's, lets go of nothing of the user's, and ends nothing.
    func look<Result: Sendable>(_ body: (Registration) -> Result?) -> Result? {
        Looks.look(at: address) { hasEnded ? nil : held.flatMap(body) }
    }

    /// The registration, to be asked for where it is held anyway, by its center or by who ends it: in a look, or under the lock
    /// of its inbox while that has not ended.
    var held: Registration? {
        // Not covered: the second, of one that is in no center, and has gone with its owner's list.
        unsafe tether_try_retain(unmanaged.toOpaque()) ? unmanaged.takeRetainedValue() : nil
    }
}

extension UnownedReference where Object: Registration {
    var memory: RegistrationMemory { unsafe RegistrationMemory(at: rawAddress) }
}

extension Unretained where Object: Registration {
    /// Calls `body` with the registration's memory, which this keeps meanwhile.
    @discardableResult
    func withMemory<Result>(_ body: (RegistrationMemory) -> Result?) -> Result? {
        withExtendedLifetime(self) { unsafe rawAddress.flatMap { body(unsafe RegistrationMemory(at: $0)) } }
    }

    /// Returns what `body` makes of the registration, unless it has ended; see `RegistrationMemory.look`.
    func look<Result: Sendable>(_ body: (Registration) -> Result?) -> Result? { withMemory { $0.look(body) } }
}
