internal import Dispatch
internal import Synchronization

/// The side table: object identity to the observers whose life that object bounds.
///
/// It stands in for associated objects. Sharded by address, each shard under its own lock; nothing of the user's is
/// called or released while one is held.
final class OwnerTable: Sendable {
    typealias Token = OwnedRegistration.Token

    static let shared: OwnerTable = {
        // SAFETY: functions without a context; each hands on what it is called with.
        unsafe OwnerLifetime.listen(
            OwnerLifetime.Listener(
                willEnd: { object in unsafe OwnerTable.shared.willEnd(object) },
                didEnd: { context, _, unownedBefore in
                    unsafe OwnerTable.shared.didEnd(context, unownedBefore: unownedBefore)
                }))
        return OwnerTable()
    }()

    private final class Shard: Sendable {
        let records = Guarded(Records(), rank: .owner)
    }

    private struct Records: Sendable {
        var all = OwnerRecords(usedBits: OwnerTable.shardBits)
        /// Those that only a sweep can end.
        var sweepable: [ObjectIdentifier: OwnerRecord] = [:]
        /// The owners whose observers are muted together, those included that are attached later (D9).
        var muted: [ObjectIdentifier: Muting] = [:]

        func muting(of identity: ObjectIdentifier) -> Muting {
            muted.isEmpty ? Muting() : muted[identity] ?? Muting()
        }
    }

    private static let shardBits: UInt64 = 4
    private let shards = (0..<(1 << shardBits)).map { _ in Shard() }
    /// How many records only a sweep can end, and attachments since the last one.
    private let sweepable = Atomic<Int>(0)
    private let sinceSweep = Atomic<Int>(0)
    /// After how many attachments a sweep is due: as many as the last one left to look at, so that an attachment pays O(1).
    private let sweepInterval = Atomic<Int>(64)

    private func shard(of identity: ObjectIdentifier) -> Shard {
        shards[Int(truncatingIfNeeded: OwnerRecords.hash(identity) &>> (64 &- OwnerTable.shardBits))]
    }

    // MARK: Attaching

    /// Attaches an observer to an object that the caller holds; false if the object is being deinitialised (O8).
    ///
    /// Complexity: O(1). `exactly`: whether its end is to be seen as it happens, where that can be. What is attached without
    /// an observer is not listed among the object's.
    func attach(
        _ token: (any Token)?, to object: AnyObject, as registration: OwnedRegistration, exactly: Bool
    ) -> Bool {
        var muting: Muting?
        use(object, exactly: exactly) { record, records in
            record.state.attachments.append(token, as: registration, of: record)
            muting = records.muting(of: record.identity)
        }
        guard let muting else { return false }
        registration.inherit(muting, .unbounded)
        return true
    }

    /// Takes an attached observer off its owner's list, if it still is in it; the caller releases what this returns.
    func detach(_ registration: OwnedRegistration) -> (any Token)? {
        guard let owner = registration.record else { return nil }
        return change(owner) { $0.attachments.remove(registration) }
    }

    /// Watches an object that the caller holds as a sender, for a center; `nil` if it is being deinitialised (M5).
    func watchSender(_ object: AnyObject, for center: CenterCore) -> OwnerRecord? {
        var watched: OwnerRecord?
        use(object, exactly: center.usesExactLifetimes) { record, _ in
            watched = record
            if let known = record.state.senderWatches.firstIndex(where: { $0.center === center }) {
                record.state.senderWatches[known].count += 1
            } else {
                record.state.senderWatches.append((center, 1))
            }
        }
        return watched
    }

    /// Changes the record of an object that the caller holds, made if need be, unless it is being deinitialised.
    private func use(_ object: AnyObject, exactly: Bool, _ body: (OwnerRecord, inout Records) -> Void) {
        let identity = ObjectIdentifier(object)
        let canBeSeen = exactly && OwnerLifetime.isExact(for: Swift.type(of: object))
        let ended = shard(of: identity).records.withLock { records -> OwnerRecord? in
            let record: Unmanaged<OwnerRecord>
            if let known = unsafe records.all.find(identity) {
                if unsafe known._withUnsafeGuaranteedRef({ $0.reference.hasEnded }) {
                    return unsafe known.takeUnretainedValue()
                }
                unsafe record = known
            } else {
                guard let made = OwnerRecord(object) else { return nil }
                unsafe record = records.all.insert(made)
            }
            // SAFETY: the table holds it, and `body` takes it out of none.
            unsafe record._withUnsafeGuaranteedRef { record in
                if !record.state.isExact {
                    record.state.isExact = canBeSeen && OwnerLifetime.watch(object)
                    list(record, in: &records)
                }
                body(record, &records)
            }
            return nil
        }
        // Not covered: a weak reference, which is what there is over the Objective-C runtime, does not keep an address
        // from being used again before the sweep has come by; `.ci/apple run` executes it.
        if let ended, !isBeingDeinitialised(object) {
            end(ended)
            shard(of: identity).records.withLock { remove(ended, from: &$0) }
            return use(object, exactly: exactly, body)
        }
        if sweepable.load(ordering: .relaxed) > 0 { sweepIfDue() }
    }

    /// Ends one watch of a sender.
    func unwatchSender(_ record: OwnerRecord, for center: CenterCore) {
        change(record) { state in
            guard let known = state.senderWatches.firstIndex(where: { $0.center === center }) else { return }
            state.senderWatches[known].count -= 1
            if state.senderWatches[known].count == 0 { state.senderWatches.remove(at: known) }
        }
    }

    /// The observers of an owner, in order of attachment.
    func tokens(of owner: AnyObject) -> [any Token] {
        let identity = ObjectIdentifier(owner)
        return shard(of: identity).records.withLock { $0.all[identity]?.state.attachments.tokens ?? [] }
    }

    /// The same, as registrations.
    func registrations(of owner: AnyObject) -> [Unretained<Registration>] {
        let identity = ObjectIdentifier(owner)
        return shard(of: identity).records.withLock { $0.all[identity]?.state.attachments.registrations ?? [] }
    }

    /// Counts one muting of all observers of an owner; returns them, to be muted, in order of attachment.
    func mute(_ owner: AnyObject, keepingNewest: Bool) -> [Unretained<Registration>] {
        var registrations: [Unretained<Registration>] = []
        use(owner, exactly: true) { record, records in
            records.muted[record.identity, default: Muting()].begin(keepingNewest: keepingNewest)
            registrations = record.state.attachments.registrations
        }
        return registrations
    }

    /// Ends one muting of all observers of an owner; returns them, to be unmuted, or `nil` if the owner is not muted.
    func unmute(_ owner: AnyObject) -> [Unretained<Registration>]? {
        let identity = ObjectIdentifier(owner)
        return shard(of: identity).records.withLock { records in
            var muting = records.muting(of: identity)
            guard let record = records.all[identity], muting.end() else { return nil }
            records.muted[identity] = muting.count > 0 ? muting : nil
            if record.state.isUnused, muting.count == 0 { remove(record, from: &records) }
            return record.state.attachments.registrations
        }
    }

    /// Whether anything is kept for an object.
    func hasRecord(of identity: ObjectIdentifier) -> Bool {
        shard(of: identity).records.withLock { $0.all[identity] != nil || $0.muted[identity] != nil }
    }

    @discardableResult
    private func change<Result: Sendable>(
        _ record: OwnerRecord, _ body: (inout OwnerRecord.State) -> sending Result
    ) -> Result {
        shard(of: record.identity).records.withLock { records in
            let result = body(&record.state)
            // An object whose end is under way keeps its record until `didEnd` or a sweep.
            if record.state.isUnused, records.muting(of: record.identity).count == 0 { remove(record, from: &records) }
            return result
        }
    }

    /// Takes a record out, if it is in. The table may be the last to hold it: a record has nothing of the user's.
    private func remove(_ record: OwnerRecord, from records: inout Records) {
        guard let record = records.all.remove(record) else { return }
        list(record, in: &records)
        if record.state.isExact { unsafe OwnerLifetime.unwatch(record.reference.rawAddress) }
    }

    /// Lists a record for the sweep, or no longer, as its state says.
    private func list(_ record: OwnerRecord, in records: inout Records) {
        let isToBe = record.state.needsSweep && records.all[record.identity] === record
        guard isToBe || !records.sweepable.isEmpty else { return }
        guard isToBe != (records.sweepable[record.identity] === record) else { return }
        records.sweepable[record.identity] = isToBe ? record : nil
        sweepable.wrappingAdd(isToBe ? 1 : -1, ordering: .relaxed)
    }

    // MARK: The end of an owner

    /// Called with the address of a watched object whose last strong reference has gone, before its `deinit`.
    ///
    /// Returns its record, retained, if `didEnd` is to be called when the `deinit` has run.
    func willEnd(_ address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        let (record, begun) = unsafe endAttachments(of: address)
        // Here, where all that the observers held is released.
        if begun > 0 { TraceEvent.end(begun) }
        return unsafe record
    }

    private func endAttachments(of address: UnsafeMutableRawPointer) -> (UnsafeMutableRawPointer?, begun: UInt64) {
        // SAFETY: the address is that of an object; only its identity is used.
        let identity = unsafe unsafeBitCast(address, to: ObjectIdentifier.self)
        var (first, isSender): (OwnerRecord.State.First, Bool) = ((nil, true), false)
        // Nil where the first observer is all that there is to end.
        let kept = shard(of: identity).records.withLock { records -> OwnerRecord? in
            guard let record = unsafe records.all.find(identity) else { return nil }
            // SAFETY: the table holds it until it is taken out, which is last.
            return unsafe record._withUnsafeGuaranteedRef { record in
                guard record.state.isExact else { return nil }
                first = record.state.removeFirst()
                isSender = !record.state.senderWatches.isEmpty
                let kept = first.isLast && !isSender && !TraceEvent.isOn ? nil : record
                if !records.muted.isEmpty { records.muted[identity] = nil }
                if record.state.isUnused { remove(record, from: &records) }
                return kept
            }
        }
        guard let record = kept else {
            if let only = first.registration.take() { OwnerTable.end(only) }
            return (nil, 0)
        }
        let begun = TraceEvent.isOn ? record.traceEnd() : 0
        end(first, of: record)
        // SAFETY: `didEnd` takes this retain back.
        return unsafe (isSender ? Unmanaged.passRetained(record).toOpaque() : nil, begun)
    }

    private static func end(_ registration: OwnedRegistration) {
        let token = registration.token.take()
        withExtendedLifetime(token) { registration.finish(because: .ownerEnded) }
    }

    /// Ends an attached observer, and those behind it, one by one: one that another thread stops meanwhile ends there.
    private func end(_ first: OwnerRecord.State.First, of record: OwnerRecord) {
        var (next, isLast) = first
        while let registration = next.take() {
            OwnerTable.end(registration)
            if !isLast { (next, isLast) = change(record) { $0.removeFirst() } }
        }
    }

    /// Called after the deallocating function of a watched sender has returned.
    func didEnd(_ context: UnsafeMutableRawPointer, unownedBefore: Int) {
        // SAFETY: takes back the retain that `willEnd` handed out.
        let record = unsafe Unmanaged<OwnerRecord>.fromOpaque(context).takeRetainedValue()
        // The strong references' share of the unowned count falls when the `deinit` has run and the memory is let go. An
        // `isolated deinit` that was sent to its actor is still to come, and an actor at work is kept until its job returns.
        guard record.reference.unownedCount < unownedBefore else {
            shard(of: record.identity).records.withLock { records in
                record.state.postponedEnd = unownedBefore
                list(record, in: &records)
            }
            return follow(record, after: .microseconds(250))
        }
        endSenderWatches(of: record)
    }

    /// Looks for the rest of a postponed end, of which nothing tells, in intervals that grow to a second.
    private func follow(_ record: OwnerRecord, after interval: DispatchTimeInterval) {
        DispatchQueue.global().asyncAfter(deadline: .now() + interval) { [self] in
            collect(record)
            guard change(record, { !$0.senderWatches.isEmpty }), case .microseconds(let last) = interval else { return }
            follow(record, after: .microseconds(min(last * 2, 1_000_000)))
        }
    }

    private func endSenderWatches(of record: OwnerRecord) {
        for center in change(record, { $0.senderWatches.map(\.center) }) { center.endAll(from: record) }
    }

    // MARK: The sweep

    private func sweepIfDue() {
        let attachments = sinceSweep.wrappingAdd(1, ordering: .relaxed).newValue
        if attachments >= sweepInterval.load(ordering: .relaxed) { purge() }
    }

    /// Ends what belongs to objects that have gone unseen.
    func purge() {
        sinceSweep.store(0, ordering: .relaxed)
        for shard in shards {
            for record in shard.records.withLock({ Array($0.sweepable.values) }) { collect(record) }
        }
        sweepInterval.store(max(64, sweepable.load(ordering: .relaxed)), ordering: .relaxed)
    }

    /// Ends what belongs to one object, if that object has gone.
    func collect(_ record: OwnerRecord) {
        // An end that is seen as it happens ends the observers on its own thread, before the `deinit` (O3).
        guard record.reference.hasEnded, change(record, { $0.needsSweep }) else { return }
        end(record)
    }

    /// Ends what belongs to an object that has gone.
    private func end(_ record: OwnerRecord) {
        shard(of: record.identity).records.withLock { records in
            // A weak reference lets another object have the address, and its own record there.
            if records.all[record.identity] === record { records.muted[record.identity] = nil }
        }
        // Of a postponed end it was told when it began.
        let (isTold, first) = change(record) { ($0.postponedEnd != nil, $0.removeFirst()) }
        let begun = TraceEvent.isOn && !isTold ? record.traceEnd() : 0
        end(first, of: record)
        if begun > 0 { TraceEvent.end(begun) }
        // While the `deinit` runs the strong references still have their share of the unowned count (M5). Where the count
        // before it is not known, the end is taken to be complete when the record's own reference is the only one.
        let countBefore = change(record) { $0.postponedEnd } ?? 2
        guard record.reference.unownedCount < countBefore else { return }
        endSenderWatches(of: record)
    }
}
