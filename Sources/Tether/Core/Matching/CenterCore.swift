internal import Foundation
internal import Synchronization

/// A center without its public face: the registry under a lock, lock-free posting, and the late
/// release of objects that posts may still read.
///
/// | Call | Takes the center's lock | Reads |
/// |---|---|---|
/// | `add` | once; again to unlink what it replaces | the guards of all threads that have posted, if something was unlinked |
/// | `unlink` | once | the guards of all threads that have posted |
/// | `post` of a cached name, while no observer of the name, or of any name, asks for a sender | not at all; once at its end, if something was removed during the post | name cache, nodes, slots of the name and of any name |
/// | any other `post` | once, in `match`; and at its end as above | the slots of up to four buckets |
///
/// Registrations retain their core. The core retains its registrations until their end. The public
/// center ends all registrations in its `deinit` (R10). Each observed foreign center also has a
/// core, for keys, removal and audits.
///
/// Posting is in CenterCore+Posting.swift.
///
/// SAFETY: the constants never change; all other fields are atomic or protected by the lock.
@safe final class CenterCore: Sendable {
    private static let numbers = Atomic<UInt64>(0)
    private static let all = Locked<[ObjectIdentifier: Unowned<CenterCore>]>([:])
    /// All cores that are not deallocated, retained.
    static var living: [CenterCore] { all.withLock { Array($0.values) }.compactMap(\.retained) }
    /// No other center gets this number.
    let number: UInt64
    let kind: Kind
    /// The address of Tether's own center, while that center exists.
    private let publicCenterAddress = Atomic<UInt>(0)
    /// The deliveries of the center that wait on the main queue, but for those to `.mainAsync`.
    let waitingOnMain = WaitingCount()
    /// The queues that post to this center later.
    let ledger = PostingLedger()
    let state: Locked<State>
    let reclamation: Reclamation
    /// What posts read without the lock.
    let quickMatching: QuickMatching

    enum Kind {
        /// `ObserverCenter.default`.
        case shared
        /// Any other center of Tether's own.
        case separate
        /// A center of Foundation's, or another library's.
        case foreign(ObjectIdentifier)
    }

    /// SAFETY: only accessed under the lock.
    struct State: @unchecked Sendable {
        var registry: Registry
        var isClosed = false
        var garbage = Reclamation.Garbage()
    }

    init(_ kind: Kind = .separate) {
        self.kind = kind
        number = CenterCore.numbers.wrappingAdd(1, ordering: .relaxed).newValue
        reclamation = Reclamation(ofCenter: number)
        let registry = Registry()
        quickMatching = QuickMatching(anyName: registry.anyName)
        state = Locked(State(registry: registry), rank: .center)
        CenterCore.all.withLock { $0[ObjectIdentifier(self)] = Unowned(self) }
    }

    deinit {
        CenterCore.all.withLock { all in
            _ = all.removeValue(forKey: ObjectIdentifier(self))
            all.releaseUnusedCapacity()
        }
    }

    /// Hides all centers' caches from posts. After the trace, a center's first post publishes its
    /// cache again.
    static func hideCaches() {
        for core in living {
            core.state.withLock { core.quickMatching.publishOrHideCache(of: $0.registry) }
        }
    }

    // MARK: Adding and removing

    private typealias Added = (replaced: Registration?, isClosed: Bool, released: Registry.Unlinked)

    /// Adds a registration, unless its end has already tried to unlink it. Ends it if the center
    /// has ended. The new registration replaces the registration with the same key.
    ///
    /// If another thread has closed the new registration, and not unlinked it yet, the registration
    /// is added for that thread to find, and replaces none.
    func add(_ registration: Registration, name: Notification.Name?, sender: SenderKey?) {
        let (replaced, isClosed, released) = state.withLock { state -> Added in
            if registration.id == Registration.endedBeforeAddition { return (nil, false, []) }
            if registration.hasEnded {
                // SAFETY: the bucket takes over the retained reference.
                unsafe state.registry.addNew(
                    .passRetained(registration), name: name, sender: sender)
                quickMatching.publishAdded(registration)
                return (nil, state.isClosed, retireUnlinked(in: &state))
            }
            // In one step, so a beginning post sees exactly one of the two registrations (M7).
            let mayReplace = registration.details?.key != nil
            if mayReplace { quickMatching.countReplacement() }
            var replaced = state.registry.add(registration, name: name, sender: sender)
            quickMatching.publishAdded(registration)
            if let old = replaced, !old.close() { replaced = nil }
            if mayReplace { quickMatching.countReplacement() }
            return (replaced, state.isClosed, retireUnlinked(in: &state))
        }
        if isClosed { close() }
        replaced?.completeEnd()
        withExtendedLifetime(released) {}
    }

    /// Adds a registration for any sender, without details; takes over the caller's reference.
    func add(_ registration: Unmanaged<Registration>, name: Notification.Name?) {
        let (isClosed, released) = state.withLock { state -> (Bool, Registry.Unlinked) in
            // SAFETY: the bucket takes over the caller's reference.
            let id = unsafe registration._withUnsafeGuaranteedRef { $0.id }
            if id == Registration.endedBeforeAddition {
                return unsafe (false, [registration.takeRetainedValue()])
            }
            unsafe state.registry.addNew(registration, name: name, sender: nil)
            unsafe registration._withUnsafeGuaranteedRef { quickMatching.publishAdded($0) }
            return (state.isClosed, retireUnlinked(in: &state))
        }
        if isClosed { close() }
        withExtendedLifetime(released) {}
    }

    /// Unlinks a registration. The caller releases the result, which includes the registration.
    func unlink(_ registration: Registration) -> (
        removed: Registration, unlinked: Registry.Unlinked
    ) {
        state.withLock { state in
            guard let (removed, bucket) = unsafe state.registry.remove(registration) else {
                registration.id = Registration.endedBeforeAddition
                return (registration, [])
            }
            // Garbage nearly always means a post under way.
            if state.garbage.isEmpty {
                // The last free slots are used again, so observers that come and go do not fill the
                // slots. A post under way may have read the old number of used slots, and would
                // call an observer that its own handlers add there (R4). So the number changes
                // before the guards are read, and with a post under way it changes back. A post
                // that begins in between reads the new number; the guard of one that has read the
                // old number is seen.
                // SAFETY: the registry, or its list of unlinked objects, retains the bucket.
                let used = unsafe bucket._withUnsafeGuaranteedRef { $0.hideTrailingHoles() }
                if !reclamation.hasPosts {
                    return (removed, state.registry.takeUnlinked())
                }
                unsafe bucket._withUnsafeGuaranteedRef { $0.showTrailingHoles(used) }
            }
            return (removed, retire(removed, in: &state))
        }
    }

    /// Retires the unlinked objects, if there are any. Returns the objects that no post can
    /// be reading any more.
    @inline(__always)
    func retireUnlinked(in state: inout State) -> Registry.Unlinked {
        state.registry.unlinked.isEmpty ? [] : retire(nil, in: &state)
    }

    /// Retires the unlinked objects, and a registration whose state is closed. Posts may still read
    /// the state of a returned registration.
    @inline(never)
    private func retire(_ removed: Registration?, in state: inout State) -> Registry.Unlinked {
        reclamation.retire(state.registry.takeUnlinked(), and: removed, in: &state.garbage)
    }

    /// Called at the end of a post that began in the epoch: releases the garbage that no other post
    /// can be reading.
    @inline(never)
    func reclaim(since epoch: UInt64) {
        let released = state.withLock { reclamation.collect(&$0.garbage, since: epoch) }
        withExtendedLifetime(released) {}
    }

    /// Ends every registration of a deallocated sender, after the registration's pending
    /// deliveries. Until then a registration stays added, and takes no posts.
    func endAllAfterPending(of sender: ObjectRecord) {
        for registration in registrations(from: .object(sender.identity)) {
            registration.live?.endAfterPending(of: sender)
        }
    }

    func endAll(named name: Notification.Name? = nil, from sender: SenderKey? = nil) {
        for registration in registrations(named: name, from: sender) {
            registration.retained?.end()
        }
    }

    /// Ends every registration at the center's end, which leak checks follow.
    func closeAtCenterEnd() {
        Events.report(.centerEnds(number))
        close()
        Events.report(.centerEnded(number))
    }

    /// Ends every registration, and every later registration at once.
    func close() {
        state.withLock { $0.isClosed = true }
        for registration in registrations() {
            let isEnded = CenterCore.endWithCenter(registration)
            if isEnded { Events.report(.released(registration.registrationAddress)) }
        }
    }

    /// Ends a registration of an ended center; false if it had ended before. A function of its own,
    /// so that the captures are released before `released` is reported, unless a call is under way.
    private static func endWithCenter(_ registration: Unowned<Registration>) -> Bool {
        guard let registration = registration.live else { return false }
        registration.end(because: .centerEnded)
        return true
    }

    // MARK: The center

    var foreignCenter: ObjectIdentifier? {
        if case .foreign(let center) = kind { center } else { nil }
    }

    var ownCenter: ObjectIdentifier? {
        // SAFETY: the address is an object's; only its identity is used.
        unsafe UnsafeRawPointer(bitPattern: publicCenterAddress.load(ordering: .acquiring)).map {
            unsafe unsafeBitCast($0, to: ObjectIdentifier.self)
        }
    }

    func setOwnCenter(_ identity: ObjectIdentifier?) {
        publicCenterAddress.store(identity.map(UInt.init(bitPattern:)) ?? 0, ordering: .releasing)
        if identity != nil { Events.report(.centerMade(number)) }
    }

    /// The cores of all centers of Tether's own, oldest first.
    static var ofOwnCenters: [CenterCore] {
        living.filter { $0.ownCenter != nil }.sorted { $0.number < $1.number }
    }

    // MARK: Queries

    /// The added registrations of a name, a sender, both, or all, in registration order, not
    /// retained (R8).
    func registrations(
        named name: Notification.Name? = nil, from sender: SenderKey? = nil
    ) -> [Unowned<Registration>] {
        state.withLock { $0.registry.registrations(named: name, from: sender).map { Unowned($0) } }
    }

    var count: Int { state.withLock { $0.registry.count } }

    /// Whether a post of a name and a sender, or of any sender if `sender` is `nil`, would reach an
    /// observer.
    func hasObservers(of name: Notification.Name, from sender: SenderKey?) -> Bool {
        state.withLock { $0.registry.hasObservers(of: name, from: sender) }
    }

    /// Notes for posts that a registration, perhaps already added, is routed.
    func noteRouted(_ registration: Registration) {
        state.withLock { _ in
            // SAFETY: the registry retains the bucket while the bucket has the registration.
            unsafe registration.bucket?._withUnsafeGuaranteedRef {
                $0.slots.countRouted(registration)
            }
        }
    }

    func subject(of registration: Registration) -> (name: Notification.Name?, sender: SenderKey?)? {
        state.withLock { state in
            // SAFETY: the registry retains the bucket and its node while the bucket has the
            // registration.
            unsafe registration.bucket.map {
                unsafe $0._withUnsafeGuaranteedRef {
                    unsafe ($0.node._withUnsafeGuaranteedRef(\.name), $0.sender)
                }
            }
        }
    }

    /// Whether the core keeps no name, sender, key, registration or garbage (M9).
    var isEmpty: Bool { state.withLock { $0.registry.isEmpty && $0.garbage.isEmpty } }
}
