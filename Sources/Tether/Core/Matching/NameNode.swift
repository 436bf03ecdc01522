internal import Foundation
internal import Synchronization

/// The buckets of one name, or those of observers of any name.
///
/// SAFETY: everything that varies and is not atomic is only touched under the lock of the center that has the node;
/// the center keeps what posts may see.
@safe final class NameNode: @unchecked Sendable {
    let name: Notification.Name?
    private(set) var anySender: Bucket?
    private(set) var senders: [SenderKey: Bucket] = [:]
    /// How many cached names hold the node.
    var cachings = 0

    // The fields that posts read without the lock.
    private let openSlots = unsafe Atomic<UnsafeRawPointer?>(nil)
    private let hasSenders = Atomic<Bool>(false)

    init(name: Notification.Name?) {
        self.name = name
    }

    /// Whether it has observers.
    var isObserved: Bool {
        if let anySender, anySender.count > 0 { return true }
        return hasSenders.load(ordering: .relaxed)
    }

    var isUnused: Bool { !isObserved && cachings == 0 }

    /// The bucket of observers of any sender, which stays as long as the node does.
    func makeAnySender() -> Unmanaged<Bucket> {
        if let anySender { return unsafe .passUnretained(anySender) }
        let made = Bucket(node: self, sender: nil)
        anySender = made
        return unsafe .passUnretained(made)
    }

    /// Changes the bucket of a sender, and lets posts see whether there is any.
    func setBucket(_ bucket: Bucket?, of sender: SenderKey) {
        senders[sender] = bucket
        hasSenders.store(!senders.isEmpty, ordering: .sequentiallyConsistent)
    }

    /// Lets posts see a bucket's new slots.
    func publish(_ bucket: Bucket) {
        // SAFETY: the center keeps slots for posts that may see them.
        unsafe openSlots.store(Unmanaged.passUnretained(bucket.slots).toOpaque(), ordering: .sequentiallyConsistent)
    }

    /// Lets posts see that no observer of any sender is left.
    func unpublish() {
        unsafe openSlots.store(nil, ordering: .sequentiallyConsistent)
    }

    /// The slots that a post reaches here, read without the lock: those that are open to any sender, if that is all there
    /// is, or nothing.
    ///
    /// SAFETY: as the slots of a bucket.
    @safe enum FastMatch {
        case nothing
        case only(Unmanaged<BucketSlots>)
        case more
    }

    @inline(__always)
    var fastMatch: FastMatch {
        if hasSenders.load(ordering: .sequentiallyConsistent) { return .more }
        guard let slots = unsafe openSlots.load(ordering: .sequentiallyConsistent) else { return .nothing }
        return unsafe .only(Unmanaged<BucketSlots>.fromOpaque(slots))
    }

    /// All buckets, in no order.
    var buckets: [Bucket] { (anySender.map { [$0] } ?? []) + senders.values }
}
