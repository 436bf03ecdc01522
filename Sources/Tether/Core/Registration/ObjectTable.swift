internal import Synchronization

/// The object table: from the address of an object to its record, which has the observers that the
/// object bounds.
///
/// The table replaces associated objects, which Linux does not have. An object has a record while
/// it has attached observers or is an observed sender. The table has 16 shards, by address, each a
/// hash table under its own lock. With a shard's lock held, no user code runs and no user value is
/// released.
///
/// The end of an owner or sender:
///
///     the last strong reference is released
///     the hook (OwnerLifetime)   -> willEnd: closes the attached observers, one by one, and completes the end of each without the lock
///     the object's own deinit       its posts still reach the observers of this sender
///     the hook                   -> didEnd: ends the observers of this sender, on each center that has any
///
/// With the Objective-C runtime both calls come after the body of the `deinit`, one after the
/// other, before the memory is freed.
///
/// If a class cannot have the hook, the first post that finds the owner's end ends the observers,
/// or `purge()` (O10).
final class ObjectTable: Sendable {
    typealias Token = OwnedRegistration.Token

    static let shared: ObjectTable = {
        // SAFETY: functions without a context; each passes on its arguments.
        unsafe OwnerLifetime.listen(
            OwnerLifetime.Listener(
                willEnd: { object in unsafe ObjectTable.shared.willEnd(object) },
                didEnd: { context in unsafe ObjectTable.shared.didEnd(context) }))
        return ObjectTable()
    }()

    private final class Shard: Sendable {
        let records = Locked(HashChains<ObjectRecord>(), rank: .owner)
    }

    private static let shardBits: UInt64 = 4
    private let shards = (0..<(1 << shardBits)).map { _ in Shard() }

    private func shard(of identity: ObjectIdentifier) -> Shard {
        let bits = mixedBits(ofAddress: UInt(bitPattern: identity))
        return shards[Int(truncatingIfNeeded: bits &>> (64 &- ObjectTable.shardBits))]
    }

    // MARK: Attaching

    /// Attaches an observer to an object that the caller retains; false if the object is being
    /// deinitialised (O8). A registration without a token is not listed among the object's
    /// observers.
    func attach(_ registration: OwnedRegistration, to object: AnyObject, token: (any Token)?)
        -> Bool
    {
        withRecord(of: object) { $0.state.attachments.append(registration, token: token, of: $0) }
    }

    /// Attaches the work of an object in place of its work with an equal key, which the caller
    /// ends; false if the object is being deinitialised.
    func attach(
        _ work: OwnedRegistration, to object: AnyObject, token: any Token,
        replacing replaced: inout OwnedRegistration?
    ) -> Bool {
        withRecord(of: object) { record in
            if let key = work.details?.key {
                replaced = record.state.attachments.work(with: key)
            }
            record.state.attachments.append(work, token: token, of: record)
        }
    }

    /// Removes an observer from its owner's list, if the list has the observer. The caller releases
    /// the result.
    func detach(_ registration: OwnedRegistration) -> (any Token)? {
        guard let owner = registration.record else { return nil }
        return change(owner) { $0.attachments.remove(registration) }
    }

    /// Watches a retained object as a sender, for a center; `nil` if the object is being
    /// deinitialised (M5).
    func watchSender(_ object: AnyObject, for center: CenterCore) -> ObjectRecord? {
        var watched: ObjectRecord?
        _ = withRecord(of: object) { record in
            watched = record
            if let known = record.state.senderWatches.firstIndex(where: { $0.center === center }) {
                record.state.senderWatches[known].count += 1
            } else {
                record.state.senderWatches.append((center, 1))
            }
        }
        return watched
    }

    #if canImport(ObjectiveC)
    /// Changes or makes the record of a retained object; false if the object is being
    /// deinitialised.
    ///
    /// The weak reference of a record calls a method of the object's class, so the record is made
    /// with no lock held (R6).
    private func withRecord(of object: AnyObject, _ body: (ObjectRecord) -> Void) -> Bool {
        let identity = ObjectIdentifier(object)
        let shard = shard(of: identity)
        let found = shard.records.withLock {
            ObjectTable.withKnownRecord(of: identity, in: $0, body)
        }
        if case .changed = found { return true }
        let isExact = OwnerLifetime.isExact(for: Swift.type(of: object))
        guard let made = ObjectRecord(object, isExact: isExact) else { return false }
        // The record of an earlier object at the address, which was a sender: its observers have
        // deliveries left.
        var earlier: ObjectRecord?
        shard.records.withLock { records in
            // Another thread may have made the record meanwhile.
            let found = ObjectTable.withKnownRecord(of: identity, in: records, body)
            if case .changed = found { return }
            if let known = unsafe records.find(identity)?.takeUnretainedValue() {
                earlier = records.remove(known)
            }
            ObjectTable.insert(made, of: object, into: &records, body)
        }
        if let earlier { endSenderWatches(of: earlier) }
        return true
    }
    #else
    /// Changes or makes the record of a retained object; false if the object is being
    /// deinitialised.
    private func withRecord(of object: AnyObject, _ body: (ObjectRecord) -> Void) -> Bool {
        let identity = ObjectIdentifier(object)
        let isExact = OwnerLifetime.isExact(for: Swift.type(of: object))
        return shard(of: identity).records.withLock { records in
            switch ObjectTable.withKnownRecord(of: identity, in: records, body) {
            case .changed: return true
            case .ended: return false
            case .missing: break
            }
            guard let made = ObjectRecord(object, isExact: isExact) else { return false }
            ObjectTable.insert(made, of: object, into: &records, body)
            return true
        }
    }
    #endif

    /// Inserts a new record, which changes at once, and has the object's end reported.
    private static func insert(
        _ made: ObjectRecord, of object: AnyObject, into records: inout HashChains<ObjectRecord>,
        _ body: (ObjectRecord) -> Void
    ) {
        OwnerLifetime.watch(object)
        let record = unsafe records.insert(made)
        // SAFETY: the table retains the record, and `body` removes none.
        unsafe record._withUnsafeGuaranteedRef(body)
    }

    private enum FoundRecord {
        case changed
        /// The record's object is being deinitialised. With the Objective-C runtime that object may
        /// be an earlier one at the address.
        case ended
        case missing
    }

    /// Changes the record of an object, if there is one.
    private static func withKnownRecord(
        of identity: ObjectIdentifier, in records: borrowing HashChains<ObjectRecord>,
        _ body: (ObjectRecord) -> Void
    ) -> FoundRecord {
        guard let known = unsafe records.find(identity) else { return .missing }
        // SAFETY: the table retains the record, and `body` removes none.
        return unsafe known._withUnsafeGuaranteedRef { record in
            if record.reference.hasEnded { return .ended }
            body(record)
            return .changed
        }
    }

    func unwatchSender(_ record: ObjectRecord, for center: CenterCore) {
        change(record) { state in
            guard let known = state.senderWatches.firstIndex(where: { $0.center === center }) else {
                return
            }
            state.senderWatches[known].count -= 1
            if state.senderWatches[known].count == 0 { state.senderWatches.remove(at: known) }
        }
    }

    func tokens(of owner: AnyObject) -> [any Token] {
        let identity = ObjectIdentifier(owner)
        return shard(of: identity).records.withLock { records in
            unsafe records.find(identity)?._withUnsafeGuaranteedRef { $0.state.attachments.tokens }
                ?? []
        }
    }

    /// The tasks, loops and closures of all owners, not retained, in no order.
    var work: [Unowned<Registration>] {
        shards.flatMap { shard in
            shard.records.withLock { $0.elements.flatMap { $0.state.attachments.work } }
        }
    }

    /// For tests.
    func hasRecord(of identity: ObjectIdentifier) -> Bool {
        shard(of: identity).records.withLock { unsafe $0.find(identity) != nil }
    }

    @discardableResult
    private func change<Result: Sendable>(
        _ record: ObjectRecord, _ body: (inout ObjectRecord.State) -> sending Result
    ) -> Result {
        shard(of: record.identity).records.withLock { records in
            let result = body(&record.state)
            // The table's reference may be the last: a record has no user value.
            if record.state.isUnused { _ = records.remove(record) }
            return result
        }
    }

    // MARK: The end of an owner

    /// Called with the address of an object after the release of its last strong reference, before
    /// its `deinit`; with the Objective-C runtime after the body of the `deinit`. Returns the
    /// object's record, retained, if `didEnd` is to be called after the `deinit`.
    func willEnd(_ address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        // SAFETY: the address is an object's; only its identity is used.
        var ending = unsafe beginEnd(of: unsafeBitCast(address, to: ObjectIdentifier.self))
        guard let record = ending.record else {
            if let only = ending.first.registration.take() { ObjectTable.end(only) }
            return nil
        }
        let begun = Events.report(.ownerEnds(record))
        endAll(beginningWith: &ending.first, of: record)
        // After the release of everything that the observers held.
        Events.end(begun)
        // SAFETY: `didEnd` releases this retain.
        return unsafe ending.isSender ? Unmanaged.passRetained(record).toOpaque() : nil
    }

    /// What the end of an object has to end.
    private struct ObjectEnd {
        var first = ObjectRecord.State.RemovedFirst()
        var isSender = false
        /// `nil` is the fast way: nothing follows the end of the first observer, neither another
        /// observer's end, nor a sender's, nor an event.
        var record: ObjectRecord?
    }

    private func beginEnd(of identity: ObjectIdentifier) -> ObjectEnd {
        shard(of: identity).records.withLock { records in
            var ending = ObjectEnd()
            guard let known = unsafe records.find(identity) else { return ending }
            // SAFETY: the table retains the record until the removal, which comes last.
            unsafe known._withUnsafeGuaranteedRef { record in
                ending.first = record.state.removeFirst()
                ending.isSender = !record.state.senderWatches.isEmpty
                if !ending.first.isListEmpty || ending.isSender || Events.areTraced {
                    ending.record = record
                }
                if record.state.isUnused { _ = records.remove(record) }
            }
            return ending
        }
    }

    private static func end(_ registration: OwnedRegistration) {
        let token = registration.token.take()
        withExtendedLifetime(token) { registration.completeDetachedEnd(because: .ownerEnded) }
    }

    /// Ends a removed observer, and then each of the others, one by one: the captures of each are
    /// released before the next one's end. Other threads may end some meanwhile. `inout`, so that
    /// the caller keeps no reference to an observer that has ended.
    private func endAll(
        beginningWith next: inout ObjectRecord.State.RemovedFirst, of record: ObjectRecord
    ) {
        while let registration = next.registration.take() {
            ObjectTable.end(registration)
            if !next.isListEmpty { next = change(record) { $0.removeFirst() } }
        }
    }

    /// Called after the return of a sender's deallocating function; with the Objective-C runtime
    /// directly after `willEnd`. The sender's `deinit` may have been postponed (M5).
    func didEnd(_ context: UnsafeMutableRawPointer) {
        // SAFETY: takes over the reference that `willEnd` retained.
        endSenderWatches(of: unsafe Unmanaged<ObjectRecord>.fromOpaque(context).takeRetainedValue())
    }

    private func endSenderWatches(of record: ObjectRecord) {
        for center in change(record, { $0.senderWatches.map(\.center) }) {
            center.endAllAfterPending(of: record)
        }
    }

    // MARK: Ends that were not seen

    /// Ends the observers of an owner whose end was not seen. At an exact end, the ending thread
    /// does so (O3).
    func noticeEnd(of record: ObjectRecord) {
        guard !record.isExact, record.reference.hasEnded else { return }
        let begun = Events.report(.ownerEnds(record))
        var first = change(record) { $0.removeFirst() }
        endAll(beginningWith: &first, of: record)
        Events.end(begun)
    }

    func purge() {
        let records = shards.flatMap { $0.records.withLock(\.elements) }
        for record in records where !record.isExact && record.reference.hasEnded {
            noticeEnd(of: record)
            endSenderWatches(of: record)
        }
    }
}

extension OwnerLifetime {
    /// Ends the observers of owners and senders whose end was not seen, in all centers.
    ///
    /// Has no effect where `isExact` holds. Elsewhere an owner's observers also end at the next
    /// post that reaches one. Complexity: O(observers). Any thread; captured values are released on
    /// the calling thread.
    public static func purge() { ObjectTable.shared.purge() }
}
