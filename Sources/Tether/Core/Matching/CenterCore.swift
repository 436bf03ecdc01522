internal import Foundation
internal import Synchronization

/// A center without its public face: the registry under a lock, posting without it, and the late release of the objects that posts
/// may still read.
///
/// | Call | Takes the lock | Reads without it |
/// |---|---|---|
/// | `add`, `unlink` | once | the guards of all threads that have posted |
/// | `post` of a cached name, no observer of a sender of it, or of any name | not at all | the name cache, a node, its slots |
/// | any other `post` | once, in `match` | the slots of up to four buckets |
///
/// Registrations retain their core, and the core retains its registrations until they end. The public center ends them all in its
/// `deinit` (R10). A core also stands beside each foreign center that has observers, for keys, removal and audits.
///
/// SAFETY: the constants never change; each other field is atomic or under the lock.
@safe final class CenterCore: Sendable {
    private static let numbers = Atomic<UInt64>(0)
    /// All cores by their addresses.
    static let all = Locked<[UInt: Unowned<CenterCore>]>([:])
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
    let state: Locked<State>
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

    /// SAFETY: only touched under the mutex.
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
        state = Locked(State(registry: registry), rank: .center)
        // First, or `followTrace` could miss it.
        CenterCore.all.withLock { $0[address] = Unowned(self) }
        state.withLock { publishCache(of: $0.registry) }
    }

    deinit {
        _ = CenterCore.all.withLock { $0.removeValue(forKey: address) }
    }

    /// Lets posts see the registry's cache, unless there is a trace: then none of them takes the way that traces nothing.
    func publishCache(of registry: borrowing Registry) {
        // SAFETY: the registry has the cache as long as this lives.
        let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(registry.cache).toOpaque())
        cache.store(Events.areTraced ? 0 : address, ordering: .sequentiallyConsistent)
    }

    /// Hides the name caches of all centers when a trace has been started, so that each post calls `match`. The first post after
    /// the trace shows its center's cache again.
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

    /// The registration to be ended, and the objects to be released, after an addition.
    private typealias Added = (replaced: Registration?, isClosed: Bool, released: Registry.Unlinked)

    /// Adds a registration, unless it has ended and was to be unlinked already; ends it if the center has ended.
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

    /// Unlinks a registration. The caller releases the result, which has the registration, too.
    func unlink(_ registration: Registration) -> (kept: Registration, unlinked: Registry.Unlinked) {
        state.withLock { state in
            guard let (kept, bucket) = unsafe state.registry.remove(registration) else {
                registration.slot = Registration.neverInASlot
                return (registration, [])
            }
            if state.garbage.isEmpty {
                // Before the guards are read. A later post must not find the old number of slots in use, or it might call an
                // observer that its own handlers add (R4).
                // SAFETY: the registry, or its list of unlinked objects, has the bucket.
                let used = unsafe bucket._withUnsafeGuaranteedRef { $0.trim() }
                if EpochGuard.earliest(on: address) == nil { return (kept, state.registry.takeUnlinked()) }
                unsafe bucket._withUnsafeGuaranteedRef { $0.restore(used) }
            }
            return (kept, retire(kept, in: &state))
        }
    }

    /// Retires the unlinked objects, if there are any. Returns those that no post may still read.
    @inline(__always)
    func retireUnlinked(in state: inout State) -> Registry.Unlinked {
        state.registry.unlinked.isEmpty ? [] : retire(nil, in: &state)
    }

    /// Retires the unlinked objects, and a registration whose state is closed. Returns those that no post may still read. Of a
    /// registration that is returned, posts may still read the state.
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

    /// Ends every registration of a sender that was deallocated, after its pending deliveries.
    ///
    /// Until then it stays where it is: it keeps the sender's address from being used again, so no post can match it.
    func endAll(from sender: OwnerRecord) {
        for registration in registrations(from: .object(sender.identity)) {
            registration.live?.endAfterPending(of: sender)
        }
    }

    /// Ends the registrations of a name, a sender, both, or all.
    func endAll(named name: Notification.Name? = nil, from sender: SenderKey? = nil) {
        for registration in registrations(named: name, from: sender) { registration.take()?.end() }
    }

    /// Ends every registration, and takes no more.
    func close() {
        state.withLock { $0.isClosed = true }
        for registration in registrations() where CenterCore.endOrphaned(registration) {
            if Events.areWatched { Events.report(.released(registration.address)) }
        }
    }

    /// Ends a registration whose center ends, and retains it no longer; false if it had ended.
    private static func endOrphaned(_ registration: Unowned<Registration>) -> Bool {
        guard let registration = registration.live else { return false }
        registration.endOrphaned()
        return true
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
        if identity != nil, Events.areWatched { Events.report(.centerMade(self)) }
    }

    /// The cores of all centers of Tether's own, oldest first.
    static var ofOwnCenters: [CenterCore] {
        all.withLock { Array($0.values) }.compactMap { $0.take() }.filter { $0.ownCenter != nil }
            .sorted { $0.number < $1.number }
    }

    // MARK: Looking

    /// The live registrations of a name, a sender, both, or all, in registration order, not retained (R8).
    func registrations(
        named name: Notification.Name? = nil, from sender: SenderKey? = nil
    ) -> [Unowned<Registration>] {
        state.withLock { $0.registry.registrations(named: name, from: sender).map { Unowned($0) } }
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

    /// The name and sender of a live registration.
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

// MARK: Posting

/// Posting: matching, mostly without a lock, and calling.
extension CenterCore {
    /// Calls every match in registration order. `notify` calls its argument with the notification. It is only called if there is a
    /// match, and not if the notification has no payload (`isBare`) and the cache has it.
    func post(
        name: Notification.Name, isBare: Bool = false, sender: () -> SenderKey?,
        notify: ((Notification) -> Void) -> Void
    ) {
        let epoch = reclamation.epoch.load(ordering: .acquiring)
        unsafe ThreadRecord.withGuard(center: address, epoch: epoch) { epochGuard in
            switch quickMatch(name) {
            case .nothing: break
            case .only(let entry, let cached) where isBare:
                // SAFETY: the entry outlives this post; see `NameCache`.
                unsafe cached._withUnsafeGuaranteedRef { cached in
                    let stored = cached.withoutPayload
                    unsafe CenterCore.call(entry, with: stored.notification, stored: stored, at: epochGuard)
                }
            case .only(let entry, _): notify { unsafe CenterCore.call(entry, with: $0, at: epochGuard) }
            case .unknown:
                let matches = match(name: name, sender: sender)
                if matches.count == 1, let only = matches.entries.0 {
                    notify { unsafe CenterCore.call(only, with: $0, at: epochGuard) }
                } else if matches.count > 1 {
                    notify { unsafe CenterCore.callMerged(matches, with: $0, at: epochGuard) }
                }
            }
        }
        // Garbage of earlier epochs does not wait for this post.
        if reclamation.hasGarbage(since: epoch) { reclaim(since: epoch) }
    }

    /// The slots that a post reaches, as far as they are found without the lock.
    @safe private enum QuickMatch {
        case nothing
        case only(Registry.Matches.Entry, Unmanaged<CachedName>)
        case unknown
    }

    /// Matches a name that is in the cache, where nobody observes a sender of it, or any name.
    @inline(__always)
    private func quickMatch(_ name: Notification.Name) -> QuickMatch {
        let replacement = replacements.load(ordering: .acquiring)
        // SAFETY: cache, nodes and slots outlive every post that may see them; see `Reclamation`.
        guard case .nothing = unsafe anyName._withUnsafeGuaranteedRef({ $0.fastMatch }), replacement & 1 == 0 else {
            return .unknown
        }
        guard let cache = unsafe UnsafeRawPointer(bitPattern: cache.load(ordering: .sequentiallyConsistent)),
            let cached = unsafe Unmanaged<NameCache>.fromOpaque(cache)._withUnsafeGuaranteedRef({
                unsafe $0.find(StringBits(name.rawValue))
            })
        else {
            return .unknown
        }
        let match = unsafe cached._withUnsafeGuaranteedRef { unsafe $0.node._withUnsafeGuaranteedRef { $0.fastMatch } }
        switch match {
        case .nothing: return .nothing
        case .more: return .unknown
        case .only(let slots):
            let entry = unsafe Registry.Matches.Entry(slots)
            return replacements.load(ordering: .acquiring) == replacement ? unsafe .only(entry, cached) : .unknown
        }
    }

    /// The slots that a post reaches, found under the lock.
    @inline(never)
    private func match(name: Notification.Name, sender: () -> SenderKey?) -> Registry.Matches {
        let begun = Events.areTraced ? Events.report(.post(name)) : 0
        let (found, released) = state.withLock { state -> (Registry.Matches, Registry.Unlinked) in
            // Hidden by a trace that has been stopped, or by a trace of the process that forked this one.
            if cache.load(ordering: .relaxed) == 0, !Events.areTraced { publishCache(of: state.registry) }
            // A displaced entry is garbage until the posts under way have ended. Only so much garbage, if one lasts (M9).
            let matches = state.registry.matches(name: name, mayDisplace: state.garbage.count < 64, sender: sender)
            return (matches, retireUnlinked(in: &state))
        }
        withExtendedLifetime(released) {}
        var matches = found
        if begun > 0 { matches.trace(from: begun) }
        return matches
    }

    /// Delivers to one registration that a foreign center calls, and retains it meanwhile.
    static func deliver(_ notification: Notification, to registration: Unowned<Registration>) {
        guard let registration = registration.take() else { return }
        unsafe ThreadRecord.withGuard(center: EpochGuard.block, epoch: 0) { epochGuard in
            unsafe epochGuard.pointee.setHazardPointer(registration.address)
            if Events.areTraced {
                let begun = Events.report(.post(notification.name))
                registration.receiveSpecially(notification)
                Events.end(begun)
            } else {
                registration.receive(notification)
            }
        }
    }

    @inline(__always)
    private static func call(
        _ entry: Registry.Matches.Entry, with notification: Notification, stored: StoredNotification? = nil,
        at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        // SAFETY: slots and the memory of registrations outlive every post that may see them, see `Reclamation`; for a registration that was deallocated, see
        // `Registration`.
        unsafe entry.slots._withUnsafeGuaranteedRef { slots in
            if slots.hasRouted.load(ordering: .acquiring) {
                return unsafe callInTwoParts(notification, stored: stored, isTraced: false, at: epochGuard) { body in
                    unsafe slots.forEach(ofFirst: entry.used, body)
                }
            }
            var previous: UInt = 0
            unsafe slots.forEach(ofFirst: entry.used) { registration in
                unsafe registration._withUnsafeGuaranteedRef { registration in
                    let address = registration.address
                    unsafe epochGuard.pointee.setHazardPointer(address, after: previous)
                    previous = address
                    registration.receive(notification, stored: stored)
                }
            }
        }
    }

    private static func callMerged(
        _ matches: Registry.Matches, with notification: Notification, at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        let isTraced = matches.begun > 0
        unsafe callInTwoParts(notification, stored: nil, isTraced: isTraced, at: epochGuard) { body in
            let (a, b, c, d) = matches.entries
            var cursors = [a, b, c, d].compactMap { $0 }.map { Cursor($0) }
            while let next = cursors.indices.min(by: { cursors[$0].id < cursors[$1].id }),
                let registration = unsafe cursors[next].head
            {
                cursors[next].advance()
                unsafe body(registration)
            }
        }
        if isTraced { Events.end(matches.begun) }
    }

    /// Calls a post's registrations in registration order. Those with pending deliveries take the notification first.
    /// Then the blocks are submitted, and then the handlers of the posting thread are called (M3).
    @inline(never)
    private static func callInTwoParts(
        _ notification: Notification, stored: StoredNotification?, isTraced: Bool,
        at epochGuard: UnsafeMutablePointer<EpochGuard>,
        _ forEach: ((Unmanaged<Registration>) -> Void) -> Void
    ) {
        var post = Post(stored: stored)
        var previous: UInt = 0
        // SAFETY: as in `call`.
        unsafe forEach { unmanaged in
            unsafe unmanaged._withUnsafeGuaranteedRef { registration in
                guard registration.isRouted else { return unsafe post.calls.append(unmanaged) }
                let address = registration.address
                unsafe epochGuard.pointee.setHazardPointer(address, after: previous)
                previous = address
                if !registration.hasEnded { registration.receiveRouted(notification, in: &post, mayCall: false) }
            }
        }
        // A scheduler of the user's may wait for a handler of these.
        if previous != 0 { unsafe epochGuard.pointee.setHazardPointer(0, after: previous) }
        post.submit()
        previous = 0
        for index in unsafe post.calls.indices {
            let unmanaged = unsafe post.calls[index]
            unsafe unmanaged._withUnsafeGuaranteedRef { registration in
                let address = registration.address
                unsafe epochGuard.pointee.setHazardPointer(address, after: previous)
                previous = address
                if isTraced {
                    registration.receiveSpecially(notification, stored: stored)
                } else {
                    registration.receive(notification, stored: stored)
                }
            }
        }
    }

    /// A position in one bucket's slots.
    ///
    /// SAFETY: as in `call`; lives no longer than the post.
    @safe private struct Cursor {
        private let entry: Registry.Matches.Entry
        private var index = 0
        private(set) var head: Unmanaged<Registration>?
        private(set) var id = UInt64.max

        init(_ entry: Registry.Matches.Entry) {
            self.entry = entry
            advance()
        }

        mutating func advance() {
            unsafe head = nil
            id = .max
            while index < entry.used, unsafe head == nil {
                // SAFETY: as in `call`.
                unsafe head = entry.slots._withUnsafeGuaranteedRef { unsafe $0.registration(at: index) }
                index += 1
            }
            if let head = unsafe head { id = unsafe head._withUnsafeGuaranteedRef { $0.id } }
        }
    }
}
