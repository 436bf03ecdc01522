internal import Foundation
internal import Synchronization

/// A center without its public face: the registry under a lock, lock-free posting, and the late
/// release of objects that posts may still read.
///
/// | Call | Takes the lock | Reads without it |
/// |---|---|---|
/// | `add` | once | nothing; the guards of all threads that have posted, if something was unlinked |
/// | `unlink` | once | the guards of all threads that have posted |
/// | `post` of a cached name, while no observer of the name, or of any name, asks for a sender | not at all; once at its end, if something was removed during the post | name cache, nodes, slots of the name and of any name |
/// | any other `post` | once, in `match` | the slots of up to four buckets |
///
/// Registrations retain their core. The core retains its registrations until their end. The public
/// center ends all registrations in its `deinit` (R10). Each observed foreign center also has a
/// core, for keys, removal and audits.
///
/// SAFETY: the constants never change; all other fields are atomic or protected by the lock.
@safe final class CenterCore: Sendable {
    private static let numbers = Atomic<UInt64>(0)
    private static let all = Locked<[CenterAddress: Unowned<CenterCore>]>([:])
    /// All cores that are not deallocated, retained.
    static var living: [CenterCore] { all.withLock { Array($0.values) }.compactMap(\.retained) }
    /// No other center gets this number.
    let number: UInt64 = numbers.wrappingAdd(1, ordering: .relaxed).newValue
    let kind: Kind
    /// The address of Tether's own center, while that center exists.
    private let center = Atomic<UInt>(0)
    /// The deliveries of the center that wait on the main queue, but for those to `.mainAsync`.
    let waitingOnMain = WaitingCount()
    /// The queues that post to this center later.
    let ledger = PostingLedger()
    let state: Locked<State>
    let reclamation = Reclamation()
    /// Odd during the replacement of a keyed registration, which is one step for posts (M7).
    let replacements = Atomic<UInt>(0)
    /// The id of the last added registration, for posts that read two buckets. Written under the
    /// lock, after the registration's bucket.
    private let lastAdded = Atomic<UInt64>(0)
    /// The names' cache for posts; 0 before the first post, and during a trace. The registry
    /// retains the cache.
    let cache = Atomic<UInt>(0)
    /// The node of observers of any name. The registry retains the node.
    let anyName: Unmanaged<NameNode>

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
        let registry = Registry()
        // SAFETY: the registry retains the node as long as the core lives.
        unsafe anyName = Unmanaged.passUnretained(registry.anyName)
        state = Locked(State(registry: registry), rank: .center)
        CenterCore.all.withLock { $0[address] = Unowned(self) }
    }

    deinit {
        CenterCore.all.withLock { all in
            _ = all.removeValue(forKey: address)
            all.releaseUnusedCapacity()
        }
    }

    /// Makes the registry's cache, if there is one, visible to posts; during a trace hides it, so
    /// that no post takes the untraced path.
    func publishOrHideCache(of registry: borrowing Registry) {
        guard let made = registry.cache else { return }
        // SAFETY: the registry retains the cache as long as the core lives.
        let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(made).toOpaque())
        cache.store(Events.areTraced ? 0 : address, ordering: .sequentiallyConsistent)
    }

    /// Hides all centers' caches from posts. After the trace, a center's first post publishes its
    /// cache again.
    static func hideCaches() {
        for core in living {
            core.state.withLock { core.publishOrHideCache(of: $0.registry) }
        }
    }

    /// The core's identity in epoch guards.
    var address: CenterAddress { CenterAddress(of: self) }

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
                publishAdded(registration)
                return (nil, state.isClosed, retireUnlinked(in: &state))
            }
            // In one step, so a beginning post sees exactly one of the two registrations (M7).
            let mayReplace = registration.details?.key != nil
            if mayReplace { replacements.wrappingAdd(1, ordering: .sequentiallyConsistent) }
            var replaced = state.registry.add(registration, name: name, sender: sender)
            publishAdded(registration)
            if let old = replaced, !old.close() { replaced = nil }
            if mayReplace { replacements.wrappingAdd(1, ordering: .sequentiallyConsistent) }
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
            unsafe registration._withUnsafeGuaranteedRef { publishAdded($0) }
            return (state.isClosed, retireUnlinked(in: &state))
        }
        if isClosed { close() }
        withExtendedLifetime(released) {}
    }

    /// Lets posts that read two buckets find a registration, which is in its bucket.
    private func publishAdded(_ registration: Registration) {
        lastAdded.store(registration.id, ordering: .releasing)
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
                // before the guards are read, and with a post under way it changes back.
                // SAFETY: the registry, or its list of unlinked objects, retains the bucket.
                let used = unsafe bucket._withUnsafeGuaranteedRef { $0.hideTrailingHoles() }
                if EpochGuard.earliest(on: address) == nil {
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

    /// Also retires a registration whose state is closed. Posts may still read the state of a
    /// returned registration.
    @inline(never)
    private func retire(_ removed: Registration?, in state: inout State) -> Registry.Unlinked {
        reclamation.retire(
            state.registry.takeUnlinked(), and: removed, of: address, in: &state.garbage)
    }

    /// Releases the garbage that waited for an ended post of an epoch.
    @inline(never)
    func reclaim(since epoch: UInt64) {
        let released = state.withLock {
            reclamation.collect(&$0.garbage, of: address, since: epoch)
        }
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
    /// so that the captures are released before `released` is reported.
    private static func endWithCenter(_ registration: Unowned<Registration>) -> Bool {
        guard let registration = registration.live else { return false }
        registration.endWithCenter()
        return true
    }

    // MARK: The center

    var foreignCenter: ObjectIdentifier? {
        if case .foreign(let center) = kind { center } else { nil }
    }

    var ownCenter: ObjectIdentifier? {
        // SAFETY: the address is an object's; only its identity is used.
        unsafe UnsafeRawPointer(bitPattern: center.load(ordering: .acquiring)).map {
            unsafe unsafeBitCast($0, to: ObjectIdentifier.self)
        }
    }

    func setOwnCenter(_ identity: ObjectIdentifier?) {
        center.store(identity.map(UInt.init(bitPattern:)) ?? 0, ordering: .releasing)
        if identity != nil { Events.report(.centerMade(number)) }
    }

    /// The cores of all centers of Tether's own, oldest first.
    static var ofOwnCenters: [CenterCore] {
        living.filter { $0.ownCenter != nil }.sorted { $0.number < $1.number }
    }

    // MARK: Queries

    /// The live registrations of a name, a sender, both, or all, in registration order, not
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

// MARK: Posting

extension CenterCore {
    /// Calls every match in registration order. `notify` calls its argument with the notification.
    /// `notify` is not called if nothing matches, nor if the notification has no payload and its
    /// name is cached: then the cache's notification is delivered.
    func post(
        name: Notification.Name, hasNoPayload: Bool = false, sender: () -> SenderKey?,
        notify: ((Notification) -> Void) -> Void
    ) {
        let epoch = reclamation.epoch.load(ordering: .acquiring)
        unsafe ThreadRecord.withGuard(center: address, epoch: epoch) { epochGuard in
            switch quickMatch(name) {
            case .nothing: break
            case .one(let bucket, let cached) where hasNoPayload:
                // SAFETY: the entry outlives the post; see `NameCache`.
                unsafe cached._withUnsafeGuaranteedRef { cached in
                    let stored = cached.withoutPayload
                    unsafe CenterCore.call(
                        bucket, with: stored.notification, stored: stored, at: epochGuard)
                }
            case .one(let bucket, _):
                notify { unsafe CenterCore.call(bucket, with: $0, at: epochGuard) }
            case .pair(let pair, let cached) where hasNoPayload:
                // SAFETY: as above.
                unsafe cached._withUnsafeGuaranteedRef { cached in
                    let stored = cached.withoutPayload
                    unsafe CenterCore.call(
                        pair, with: stored.notification, stored: stored, at: epochGuard)
                }
            case .pair(let pair, _):
                notify { unsafe CenterCore.call(pair, with: $0, at: epochGuard) }
            case .unknown:
                unsafe matchWithLockAndCall(
                    name: name, sender: sender, notify: notify, at: epochGuard)
            }
        }
        // Garbage of earlier epochs does not wait for the post.
        if reclamation.hasGarbage(since: epoch) { reclaim(since: epoch) }
    }

    @safe private enum QuickMatch {
        case nothing
        case one(MatchedBucket, Unmanaged<CachedName>)
        case pair(MatchedPair, Unmanaged<CachedName>)
        case unknown
    }

    /// Matches a cached name without the lock, if no sender of the name or of any name is observed.
    ///
    /// Nearly always no observer of any name exists, and the name's bucket is all. Observers of any
    /// name and of senders are looked for after the bucket was read: a post that calls an observer
    /// finds each observer that was added earlier.
    @inline(__always)
    private func quickMatch(_ name: Notification.Name) -> QuickMatch {
        let replacement = replacements.load(ordering: .acquiring)
        guard replacement & 1 == 0, let cached = unsafe findCached(name) else { return .unknown }
        // SAFETY: nodes and slots outlive every post that may see them; see `Reclamation`.
        return unsafe cached._withUnsafeGuaranteedRef { entry in
            unsafe entry.node._withUnsafeGuaranteedRef { node in
                let bucket = node.openBucket
                let (hasOthers, hasSenders) = unsafe anyName._withUnsafeGuaranteedRef {
                    ($0.hasOpenBucket, $0.hasObservedSenders)
                }
                if hasSenders || node.hasObservedSenders { return .unknown }
                if hasOthers {
                    guard let pair = pairOfMatches(node) else { return .unknown }
                    return replacements.load(ordering: .acquiring) == replacement
                        ? unsafe .pair(pair, cached) : .unknown
                }
                // No second look without a bucket: a post under way may call neither of the two
                // registrations of a replacement (M7).
                guard let bucket else { return .nothing }
                return replacements.load(ordering: .acquiring) == replacement
                    ? unsafe .one(bucket, cached) : .unknown
            }
        }
    }

    @inline(__always)
    private func findCached(_ name: Notification.Name) -> Unmanaged<CachedName>? {
        // SAFETY: the cache outlives every post that may see it.
        guard
            let cache = unsafe UnsafeRawPointer(
                bitPattern: cache.load(ordering: .sequentiallyConsistent))
        else {
            return nil
        }
        return unsafe Unmanaged<NameCache>.fromOpaque(cache)._withUnsafeGuaranteedRef {
            unsafe $0.find(StringBits(name.rawValue))
        }
    }

    /// The buckets of a name and of any name, with the registrations of one moment. `nil` without a
    /// match, or if a sender is observed.
    @inline(__always)
    private func pairOfMatches(_ node: NameNode) -> MatchedPair? {
        // First: later registrations of either bucket have later ids.
        let last = lastAdded.load(ordering: .acquiring)
        let named = node.openBucket
        // SAFETY: the registry retains the node.
        let (others, hasSenders) = unsafe anyName._withUnsafeGuaranteedRef {
            ($0.openBucket, $0.hasObservedSenders)
        }
        guard !hasSenders, !node.hasObservedSenders, let first = named ?? others else {
            return nil
        }
        return MatchedPair(first, named == nil ? nil : others, upTo: last)
    }

    /// Matches under the center's lock, and calls after the lock's release.
    @inline(never)
    private func matchWithLockAndCall(
        name: Notification.Name, sender: () -> SenderKey?,
        notify: ((Notification) -> Void) -> Void, at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        switch match(name: name, sender: sender) {
        case .nothing: break
        case .one(let bucket):
            notify { unsafe CenterCore.call(bucket, with: $0, at: epochGuard) }
        case .pair(let pair):
            notify { unsafe CenterCore.call(pair, with: $0, at: epochGuard) }
        case .several(let buckets):
            notify { notification in
                unsafe CenterCore.callInTwoParts(
                    notification, stored: nil, isTraced: false, at: epochGuard
                ) { body in
                    unsafe buckets.forEachRegistration(body)
                }
            }
        case .traced(let buckets, let begun):
            notify { notification in
                unsafe CenterCore.callInTwoParts(
                    notification, stored: nil, isTraced: true, at: epochGuard
                ) { body in
                    unsafe buckets.forEachRegistration(body)
                }
            }
            Events.end(begun)
        }
    }

    private enum Match {
        case nothing
        case one(MatchedBucket)
        case pair(MatchedPair)
        case several(MatchedBuckets)
        /// The calls are reported to a trace, and the moment is that of the post's beginning.
        case traced(MatchedBuckets, since: ObserverEvent.Moment)

        init(_ buckets: MatchedBuckets) {
            guard let first = buckets.entries.0 else {
                self = .nothing
                return
            }
            switch buckets.count {
            case 1: self = .one(first)
            case 2: self = .pair(MatchedPair(first, buckets.entries.1))
            default: self = .several(buckets)
            }
        }
    }

    private func match(name: Notification.Name, sender: () -> SenderKey?) -> Match {
        let begun = Events.report(.post(name))
        let (matches, released) = state.withLock { state -> (MatchedBuckets, Registry.Unlinked) in
            // A displaced entry is garbage until posts under way end. The limit bounds a long
            // post's garbage (M9).
            let matches = state.registry.matches(
                name: name, mayDisplace: state.garbage.count < 64, sender: sender)
            // Made by this post, or hidden by an ended trace, also of the process that forked this
            // process.
            if cache.load(ordering: .relaxed) == 0, !Events.areTraced {
                publishOrHideCache(of: state.registry)
            }
            return (matches, retireUnlinked(in: &state))
        }
        withExtendedLifetime(released) {}
        guard let begun else { return Match(matches) }
        if matches.count > 0 { return .traced(matches, since: begun) }
        Events.end(begun)
        return .nothing
    }

    /// Delivers a foreign center's notification to one registration, which is retained meanwhile.
    static func deliver(_ notification: Notification, to registration: Unowned<Registration>) {
        guard let registration = registration.retained else { return }
        unsafe ThreadRecord.withGuard(center: .noCenter, epoch: 0) { epochGuard in
            unsafe epochGuard.pointee.setHazardPointer(registration.address)
            if Events.areTraced {
                let begun = Events.report(.post(notification.name))
                registration.receiveInAnyState(notification, stored: nil, in: .whole)
                Events.end(begun)
            } else {
                registration.receive(notification, stored: nil, in: .whole)
            }
        }
    }

    // How a post calls its matches; `Post` describes the parts.
    //
    // | Matches | None is routed | Some are routed |
    // |---|---|---|
    // | a bucket with one slot in use | in one part, `.calling` | in one part, `.whole` |
    // | a bucket | in one part, `.calling` | in two parts |
    // | a pair of buckets | in one part, `.calling` | in two parts |
    // | several buckets, or a trace | in two parts | in two parts |

    @inline(__always)
    private static func call(
        _ bucket: MatchedBucket, with notification: Notification,
        stored: StoredNotification? = nil, at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        if bucket.hasRouted {
            return unsafe callRouted(bucket, with: notification, stored: stored, at: epochGuard)
        }
        unsafe callInOnePart(
            bucket, with: notification, stored: stored, in: .calling, at: epochGuard)
    }

    /// Calls registrations of which some are routed. With one slot in use there is one observer at
    /// most, which needs no second part.
    @inline(never)
    private static func callRouted(
        _ bucket: MatchedBucket, with notification: Notification, stored: StoredNotification?,
        at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        if bucket.used == 1 {
            return unsafe callInOnePart(
                bucket, with: notification, stored: stored, in: .whole, at: epochGuard)
        }
        unsafe callInTwoParts(
            notification, stored: stored, isTraced: false, at: epochGuard
        ) { body in
            unsafe bucket.forEachRegistration(body)
        }
    }

    /// `step`: `.calling` if no registration was routed when the post began. A handler may have
    /// routed one since.
    @inline(__always)
    private static func callInOnePart(
        _ bucket: MatchedBucket, with notification: Notification, stored: StoredNotification?,
        in step: PostStep, at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        var previous = RegistrationAddress.none
        unsafe bucket.forEachRegistration { registration in
            unsafe pass(
                notification, to: registration, stored: stored, in: step, after: &previous,
                at: epochGuard)
        }
    }

    /// Calls the registrations of a name and of any name, in registration order. Not generic over
    /// both kinds of matches, which takes 90 instructions more of 390.
    private static func call(
        _ pair: MatchedPair, with notification: Notification,
        stored: StoredNotification? = nil, at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        if pair.hasRouted {
            return unsafe callInTwoParts(
                notification, stored: stored, isTraced: false, at: epochGuard
            ) { body in
                unsafe pair.forEachRegistration(body)
            }
        }
        var previous = RegistrationAddress.none
        unsafe pair.forEachRegistration { registration in
            unsafe pass(
                notification, to: registration, stored: stored, in: .calling, after: &previous,
                at: epochGuard)
        }
    }

    /// Passes a notification to a registration, which calls its handler or appends a delivery.
    @inline(__always)
    private static func pass(
        _ notification: Notification, to registration: Unmanaged<Registration>,
        stored: StoredNotification?, in step: PostStep,
        after previous: inout RegistrationAddress, at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        // SAFETY: slots and the memory of registrations outlive the post: see `Reclamation` and
        // `Registration`.
        unsafe registration._withUnsafeGuaranteedRef { registration in
            let address = registration.address
            unsafe epochGuard.pointee.setHazardPointer(address, after: previous)
            previous = address
            registration.receive(notification, stored: stored, in: step)
        }
    }

    /// Calls a post's registrations in registration order, in the steps that `Post` describes (M3).
    @inline(never)
    private static func callInTwoParts(
        _ notification: Notification, stored: StoredNotification?, isTraced: Bool,
        at epochGuard: UnsafeMutablePointer<EpochGuard>,
        _ forEach: ((Unmanaged<Registration>) -> Void) -> Void
    ) {
        var post = Post(stored: stored)
        var previous = RegistrationAddress.none
        // SAFETY: slots and the memory of registrations outlive the post, see `Reclamation`.
        unsafe forEach { unmanaged in
            unsafe unmanaged._withUnsafeGuaranteedRef { registration in
                guard registration.isRouted else { return unsafe post.calls.append(unmanaged) }
                let address = registration.address
                unsafe epochGuard.pointee.setHazardPointer(address, after: previous)
                previous = address
                if !registration.hasEnded {
                    registration.route(notification, of: &post, in: .collecting)
                }
            }
        }
        // A user's scheduler may wait for a handler of the last registration.
        if previous != .none {
            unsafe epochGuard.pointee.setHazardPointer(.none, after: previous)
        }
        post.effects.perform()
        previous = .none
        for index in unsafe post.calls.indices {
            let unmanaged = unsafe post.calls[index]
            unsafe unmanaged._withUnsafeGuaranteedRef { registration in
                let address = registration.address
                unsafe epochGuard.pointee.setHazardPointer(address, after: previous)
                previous = address
                if isTraced {
                    registration.receiveInAnyState(notification, stored: stored, in: .calling)
                } else {
                    registration.receive(notification, stored: stored, in: .calling)
                }
            }
        }
    }
}
