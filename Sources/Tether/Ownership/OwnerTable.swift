internal import Synchronization

/// What is kept for one object while it is an owner or a watched sender.
///
/// SAFETY: `state` is only touched under the lock of the object's shard in `OwnerTable`, which upholds it; the rest
/// never changes.
final class OwnerRecord: @unchecked Sendable {
    let reference: OwnerReference<AnyObject>
    let identity: ObjectIdentifier
    private let type: AnyClass
    fileprivate var state = State()

    fileprivate init?(_ object: AnyObject) {
        guard let reference = OwnerReference(object) else { return nil }
        self.reference = reference
        identity = ObjectIdentifier(object)
        type = Swift.type(of: object)
    }

    /// The owner's type and address; it is not retained to tell.
    var description: String {
        reference.hasEnded ? "an owner that has gone" : describeInstance(of: type, at: identity)
    }

    fileprivate struct State {
        /// The owner's observer objects, in order of attachment.
        var observers = SlotList<Attached>()
        /// The centers that have observers of this object as a sender, each with how many.
        var senderWatches: [(center: CenterCore, count: Int)] = []
        /// Users of the record that have not attached or watched yet.
        var reservations = 0
        /// Whether this object's end is seen as it happens.
        var isExact = false
        /// The unowned count from which the rest of a postponed end is told by a fall (an `isolated deinit`).
        var postponedEnd: Int?

        struct Attached {
            let observer: NotificationObserver
            let attachment: Attachment
        }

        var isUnused: Bool { observers.isEmpty && senderWatches.isEmpty && reservations == 0 }
        var needsSweep: Bool { !isExact || postponedEnd != nil }
    }
}

/// The side table: object identity to the observers whose life that object bounds.
///
/// It stands in for associated objects. Sharded by address, each shard under its own lock; nothing of the user's is
/// called or released while one is held.
final class OwnerTable: Sendable {
    static let shared = OwnerTable()

    private final class Shard: Sendable {
        let records = Guarded(Records())
    }

    private struct Records: Sendable {
        var all: [ObjectIdentifier: OwnerRecord] = [:]
        /// Those that only a sweep can end.
        var sweepable: [ObjectIdentifier: OwnerRecord] = [:]
    }

    private static let shardBits = 4
    private let shards = (0..<(1 << shardBits)).map { _ in Shard() }
    /// How many records only a sweep can end, and attachments since the last one.
    private let sweepable = Atomic<Int>(0)
    private let sinceSweep = Atomic<Int>(0)
    /// After how many attachments a sweep is due: as many as the last one left to look at, so that an attachment pays O(1).
    private let sweepInterval = Atomic<Int>(64)

    private func shard(of identity: ObjectIdentifier) -> Shard {
        let hash = UInt64(UInt(bitPattern: identity)) &* 0x9E37_79B9_7F4A_7C15
        return shards[Int(truncatingIfNeeded: hash >> UInt64(64 - OwnerTable.shardBits))]
    }

    // MARK: Attaching

    /// The record of an object that the caller holds, with one reservation; `nil` if the object is being
    /// deinitialised. Complexity: O(1).
    func reserve(_ object: AnyObject, exactly: Bool) -> OwnerRecord? {
        let identity = ObjectIdentifier(object)
        let shard = shard(of: identity)
        let record = shard.records.withLock { records -> OwnerRecord? in
            let known = records.all[identity]
            guard let record = known ?? OwnerRecord(object), !isBeingDeinitialised(object) else { return nil }
            if known == nil { records.all[identity] = record }
            if !record.state.isExact {
                record.state.isExact = exactly && OwnerLifetime.watch(object)
                list(record, in: &records)
            }
            record.state.reservations += 1
            return record
        }
        if sweepable.load(ordering: .relaxed) > 0 { sweepIfDue() }
        return record
    }

    /// Gives a reservation back.
    func cancel(_ record: OwnerRecord) {
        change(record) { $0.reservations -= 1 }
    }

    /// Turns a reservation into the attachment of an observer.
    func attach(_ observer: NotificationObserver, to record: OwnerRecord, as attachment: Attachment) {
        change(record) { state in
            state.reservations -= 1
            attachment.slot = state.observers.append(.init(observer: observer, attachment: attachment))
            attachment.isListed = true
        }
    }

    /// Takes an attached observer off its owner's list; the caller releases what this returns.
    func detach(_ attachment: Attachment) -> NotificationObserver? {
        change(attachment.record) { state in
            guard attachment.isListed else { return nil }
            attachment.isListed = false
            return state.observers.remove(at: attachment.slot) { $0.attachment.slot = $1 }?.observer
        }
    }

    /// Turns a reservation into the watch of a sender for a center.
    func watchSender(_ record: OwnerRecord, for center: CenterCore) {
        change(record) { state in
            state.reservations -= 1
            if let known = state.senderWatches.firstIndex(where: { $0.center === center }) {
                state.senderWatches[known].count += 1
            } else {
                state.senderWatches.append((center, 1))
            }
        }
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
    func observers(of owner: AnyObject) -> [NotificationObserver] {
        let identity = ObjectIdentifier(owner)
        return shard(of: identity).records.withLock { $0.all[identity]?.state.observers.elements.map(\.observer) ?? [] }
    }

    /// Whether anything is kept for an object.
    func hasRecord(of identity: ObjectIdentifier) -> Bool {
        shard(of: identity).records.withLock { $0.all[identity] != nil }
    }

    @discardableResult
    private func change<Result: Sendable>(
        _ record: OwnerRecord, _ body: (inout OwnerRecord.State) -> sending Result
    ) -> Result {
        shard(of: record.identity).records.withLock { records in
            let result = body(&record.state)
            // An object whose end is under way keeps its record until `didEnd` or a sweep.
            if record.state.isUnused, records.all[record.identity] === record { remove(record, from: &records) }
            return result
        }
    }

    private func remove(_ record: OwnerRecord, from records: inout Records) {
        records.all[record.identity] = nil
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
        // SAFETY: the address is that of an object; only its identity is used.
        let identity = unsafe unsafeBitCast(address, to: ObjectIdentifier.self)
        let record = shard(of: identity).records.withLock { records in
            records.all[identity].flatMap { $0.state.isExact ? $0 : nil }
        }
        guard let record else { return nil }
        endObservers(of: record)
        let isSender = change(record) { !$0.senderWatches.isEmpty }
        // SAFETY: `didEnd` takes this retain back.
        return unsafe isSender ? Unmanaged.passRetained(record).toOpaque() : nil
    }

    /// Called after the deallocating function of a watched sender has returned.
    func didEnd(_ context: UnsafeMutableRawPointer, unownedBefore: Int) {
        // SAFETY: takes back the retain that `willEnd` handed out.
        let record = unsafe Unmanaged<OwnerRecord>.fromOpaque(context).takeRetainedValue()
        // The strong references' share of the unowned count falls when the `deinit` has run. An `isolated deinit`
        // that was sent to its actor is still to come: the sweep will see the fall.
        guard record.reference.unownedCount < unownedBefore else {
            shard(of: record.identity).records.withLock { records in
                record.state.postponedEnd = unownedBefore
                list(record, in: &records)
            }
            return
        }
        endSenderWatches(of: record)
    }

    private func endObservers(of record: OwnerRecord) {
        for observer in change(record, { $0.observers.elements.map(\.observer) }) { observer.stop() }
    }

    private func endSenderWatches(of record: OwnerRecord) {
        for center in change(record, { $0.senderWatches.map(\.center) }) { center.endAll(from: record.identity) }
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
            let candidates = shard.records.withLock { Array($0.sweepable.values) }
            for record in candidates { collect(record) }
        }
        sweepInterval.store(max(64, sweepable.load(ordering: .relaxed)), ordering: .relaxed)
    }

    /// Ends what belongs to one object, if that object has gone.
    func collect(_ record: OwnerRecord) {
        guard record.reference.hasEnded else { return }
        endObservers(of: record)
        // While the `deinit` runs the strong references still have their share of the unowned count (M5). Where the count
        // before it is not known, the end is taken to be complete when the record's own reference is the only one.
        let countBefore = change(record) { $0.postponedEnd } ?? 2
        guard record.reference.unownedCount < countBefore else { return }
        endSenderWatches(of: record)
    }
}

/// An observer's place in its owner's list.
///
/// SAFETY: `slot` and `isListed` are only touched under the lock of the owner's shard, by `OwnerTable`.
final class Attachment: @unchecked Sendable {
    let record: OwnerRecord
    fileprivate(set) var slot = 0
    fileprivate(set) var isListed = false

    init(record: OwnerRecord) {
        self.record = record
    }
}
