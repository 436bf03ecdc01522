internal import Foundation
internal import Synchronization

/// A center without its public face: the registry under its lock, posting, and the late release of what posts under
/// way may still see.
///
/// Registrations hold their core, the core holds its registrations until they end; the public center ends them all
/// when it goes (R10).
///
/// SAFETY: what is a constant never changes; all else is under the lock or atomic.
@safe final class CenterCore: Sendable {
    private static let numbers = Atomic<UInt64>(0)
    /// All cores by their addresses.
    static let all = Guarded<[UInt: Unretained<CenterCore>]>([:])
    /// Stands for this center, and never for another one.
    let number: UInt64 = numbers.wrappingAdd(1, ordering: .relaxed).newValue
    /// Whether owners' ends are to be seen as they happen; off only in tests of the sweep.
    let usesExactLifetimes: Bool
    /// The center that this is the core of, or stands beside.
    let face: Face
    /// The address of Tether's own center, as long as there is one.
    private let center = Atomic<UInt>(0)
    /// The queues that post to this center later.
    let ledger = PostingLedger()
    let state: Guarded<State>
    /// The release of objects that posts may still read.
    let reclamation = Reclamation()
    /// Odd while a keyed registration is being replaced, which is one step for posts (M7).
    let replacements = Atomic<UInt>(0)
    /// The cache of names that posts read, which the registry keeps.
    let cache = Atomic<UInt>(0)
    /// The node of observers of any name, which the registry keeps.
    let anyName: Unmanaged<NameNode>

    enum Face {
        /// `ObserverCenter.default`.
        case shared
        /// Any other center of Tether's own.
        case own
        case foreign(ObjectIdentifier)
    }

    /// SAFETY: only touched under the mutex, which upholds it; what leaves is Sendable.
    struct State: @unchecked Sendable {
        var registry: Registry
        var isClosed = false
        var garbage = Reclamation.Garbage()
    }

    init(usesExactLifetimes: Bool, face: Face = .own) {
        self.usesExactLifetimes = usesExactLifetimes
        self.face = face
        let registry = Registry()
        // SAFETY: the registry holds it as long as this lives.
        unsafe anyName = Unmanaged.passUnretained(registry.anyName)
        state = Guarded(State(registry: registry), rank: .center)
        // First, or `followTrace` could miss it.
        CenterCore.all.withLock { $0[address] = Unretained(self) }
        state.withLock { publishCache(of: $0.registry) }
    }

    deinit {
        _ = CenterCore.all.withLock { $0.removeValue(forKey: address) }
    }

    /// Lets posts see the registry's cache, unless there is a trace: then none of them takes the way that traces nothing.
    func publishCache(of registry: borrowing Registry) {
        // SAFETY: the registry has the cache as long as this lives.
        let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(registry.cache).toOpaque())
        cache.store(TraceEvent.isOn ? 0 : address, ordering: .sequentiallyConsistent)
    }

    /// Has posts of all centers go the way that a trace needs, when one has been started; the first of each that goes it
    /// when there is none any more goes it for the last time.
    static func followTrace() {
        for core in all.withLock({ Array($0.values) }).compactMap({ $0.take() }) {
            core.state.withLock { core.publishCache(of: $0.registry) }
        }
    }

    /// Its identity in epoch guards.
    ///
    /// SAFETY: only compared, never read through.
    var address: UInt { unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    // MARK: Adding and removing

    /// What an addition leaves to be ended, and released.
    private typealias Added = (replaced: Registration?, isClosed: Bool, released: Registry.Unlinked)

    /// Adds a registration, unless it has ended and was to be taken out already; ends it if the center has gone.
    ///
    /// It replaces the one with its key. One whose state another thread has just closed replaces none, and is added so that it
    /// is retained until that thread takes it out.
    func add(_ registration: Registration, name: Notification.Name?, sender: SenderKey?) {
        let (replaced, isClosed, released) = state.withLock { state -> Added in
            if registration.slot == Registration.neverInASlot { return (nil, false, []) }
            if registration.hasEnded {
                // SAFETY: the bucket's own reference.
                unsafe state.registry.addNew(.passRetained(registration), name: name, sender: sender)
                return (nil, state.isClosed, retireUnlinked(in: &state))
            }
            // In one step, so that a post which begins sees exactly one of the two (M7).
            let mayReplace = registration.details?.key != nil
            if mayReplace { replacements.wrappingAdd(1, ordering: .sequentiallyConsistent) }
            var replaced = state.registry.add(registration, name: name, sender: sender)
            if let old = replaced {
                registration.takeOver(from: old)
                if !old.close() { replaced = nil }
            }
            if mayReplace { replacements.wrappingAdd(1, ordering: .sequentiallyConsistent) }
            return (replaced, state.isClosed, retireUnlinked(in: &state))
        }
        if isClosed { close() }
        replaced?.finish()
        withExtendedLifetime(released) {}
    }

    /// The same for one of any sender, without details; takes the caller's reference over.
    func add(_ registration: Unmanaged<Registration>, name: Notification.Name?) {
        let (isClosed, released) = state.withLock { state -> (Bool, Registry.Unlinked) in
            // SAFETY: the caller's reference, which the bucket takes over.
            if unsafe registration._withUnsafeGuaranteedRef({ $0.slot == Registration.neverInASlot }) {
                return unsafe (false, [registration.takeRetainedValue()])
            }
            unsafe state.registry.addNew(registration, name: name, sender: nil)
            return (state.isClosed, retireUnlinked(in: &state))
        }
        if isClosed { close() }
        withExtendedLifetime(released) {}
    }

    /// Takes a registration out; the caller, who need not hold it, releases what this returns: the registration, too.
    func unlink(_ registration: Registration) -> (kept: Registration, unlinked: Registry.Unlinked) {
        state.withLock { state in
            guard let (kept, bucket) = unsafe state.registry.remove(registration) else {
                registration.slot = Registration.neverInASlot
                return (registration, [])
            }
            if state.garbage.isEmpty {
                // Before the look at who is posting: a post that begins after it must not find the old number of slots
                // in use, and one of them used again by an observer that its own handlers add (R4).
                // SAFETY: the registry still has the bucket, or what it has unlinked.
                let used = unsafe bucket._withUnsafeGuaranteedRef { $0.trim() }
                if EpochGuard.earliest(on: address) == nil { return (kept, state.registry.takeUnlinked()) }
                unsafe bucket._withUnsafeGuaranteedRef { $0.restore(used) }
            }
            return (kept, retire(kept, in: &state))
        }
    }

    /// Retires what has been unlinked, if anything has; returns what no post under way may still see.
    @inline(__always)
    func retireUnlinked(in state: inout State) -> Registry.Unlinked {
        state.registry.unlinked.isEmpty ? [] : retire(nil, in: &state)
    }

    /// Retires what has been unlinked, and a registration, whose state is closed; returns what no post under way may still
    /// see. Posts may look at the state of a registration that is returned.
    @inline(never)
    private func retire(_ removed: Registration?, in state: inout State) -> Registry.Unlinked {
        reclamation.retire(state.registry.takeUnlinked(), and: removed, of: address, in: &state.garbage)
    }

    /// Releases the garbage that waited for a post, which began in an epoch and has ended.
    @inline(never)
    func reclaim(since epoch: UInt64) {
        let released = state.withLock { reclamation.collect(&$0.garbage, of: address, since: epoch) }
        withExtendedLifetime(released) {}
    }

    /// Ends every registration of a sender that has gone, after what is pending for it.
    ///
    /// Until then it stays where it is: it pins the sender's address, so no post can match it.
    func endAll(from sender: OwnerRecord) {
        for registration in registrations(from: .object(sender.identity)) {
            registration.withMemory { $0.endAfterPending(of: sender) }
        }
    }

    /// Ends the registrations that match what is given; those that another thread ends meanwhile are not kept (R8).
    func endAll(named name: Notification.Name? = nil, from sender: SenderKey? = nil) {
        for registration in registrations(named: name, from: sender) { registration.withMemory { $0.end() } }
    }

    /// Ends every registration, and takes no more.
    func close() {
        state.withLock { $0.isClosed = true }
        for registration in registrations() {
            registration.withMemory { memory in
                let endsHere = !memory.hasEnded
                memory.endOrphaned()
                if endsHere { RegistrationEvents.released(memory) }
            }
        }
    }

    // MARK: The center

    /// The foreign center that this core stands beside, if it does.
    var foreignCenter: ObjectIdentifier? { if case .foreign(let center) = face { center } else { nil } }

    /// Tether's own center, as long as there is one.
    var ownCenter: ObjectIdentifier? {
        // SAFETY: the address is that of an object; only its identity is used.
        unsafe UnsafeRawPointer(bitPattern: center.load(ordering: .acquiring)).map {
            unsafe unsafeBitCast($0, to: ObjectIdentifier.self)
        }
    }

    /// Says that Tether's own center is there now, or no longer.
    func setOwnCenter(_ identity: ObjectIdentifier?) {
        center.store(identity.map(UInt.init(bitPattern:)) ?? 0, ordering: .releasing)
        if identity != nil { RegistrationEvents.centerMade(self) }
    }

    /// The cores of all centers of Tether's own, in the order in which they were made.
    static var ofOwnCenters: [CenterCore] {
        all.withLock { Array($0.values) }.compactMap { $0.take() }.filter { $0.ownCenter != nil }
            .sorted { $0.number < $1.number }
    }

    // MARK: Looking

    /// The live registrations that match what is given, in registration order, not held: one that another thread ends
    /// meanwhile lets go of what it captured there and then (R8).
    func registrations(
        named name: Notification.Name? = nil, from sender: SenderKey? = nil
    ) -> [Unretained<Registration>] {
        state.withLock { $0.registry.registrations(named: name, from: sender).map(Unretained.init) }
    }

    var count: Int { state.withLock { $0.registry.count } }

    /// Whether a post of a name and a sender would reach an observer; without a sender, whether one of any sender would.
    func hasObservers(of name: Notification.Name, from sender: SenderKey?) -> Bool {
        state.withLock { $0.registry.hasObservers(of: name, from: sender) }
    }

    /// Lets posts see that a registration, which may have been added by now, has pending deliveries.
    func noteRouted(_ registration: Registration) {
        state.withLock { _ in
            // SAFETY: the registry has the bucket while the registration is in it.
            unsafe registration.bucket?._withUnsafeGuaranteedRef {
                $0.slots.hasRouted.store(true, ordering: .releasing)
            }
        }
    }

    /// The name and sender under which a live registration is kept.
    func subject(of registration: Registration) -> (name: Notification.Name?, sender: SenderKey?)? {
        state.withLock { state in
            // SAFETY: the registry has the bucket, and that its node, while the registration is in it.
            unsafe registration.bucket.map {
                unsafe $0._withUnsafeGuaranteedRef { unsafe ($0.node._withUnsafeGuaranteedRef(\.name), $0.sender) }
            }
        }
    }

    /// Whether nothing is kept: no name, sender, key or registration, nothing that waits for a post (M9).
    var isEmpty: Bool {
        state.withLock { $0.registry.isEmpty && $0.garbage.isEmpty }
    }
}
