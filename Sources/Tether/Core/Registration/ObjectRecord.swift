/// The record of one owner or observed sender: in `ObjectTable`, by the object's address.
///
/// The record refers to its object without retaining it. On Linux the unowned reference reserves
/// the address, and shows the deallocator hook that there may be a record. With the Objective-C
/// runtime the reference is weak. The record of an ended sender stays for its observers' pending
/// deliveries; with the Objective-C runtime no longer than until a new object at the address needs
/// a record. An attached registration retains the record; the object does not.
///
/// SAFETY: the shard's lock protects `state` and `next`, and makes accesses exclusive; all else is
/// constant.
@safe final class ObjectRecord: Chained, @unchecked Sendable {
    let reference: ObjectReference<AnyObject>
    private let type: AnyClass
    /// Whether the object's end is seen at once.
    let isExact: Bool
    /// Protected by the shard's lock.
    @safe @exclusivity(unchecked) var state = State()
    /// Protected by the shard's lock.
    @safe @exclusivity(unchecked) var next: ObjectRecord?

    init?(_ object: AnyObject, isExact: Bool) {
        if isBeingDeinitialised(object) { return nil }
        reference = ObjectReference(object)
        type = Swift.type(of: object)
        self.isExact = isExact
    }

    var identity: ObjectIdentifier {
        // SAFETY: the address is an object's; only its identity is used.
        unsafe unsafeBitCast(reference.address, to: ObjectIdentifier.self)
    }

    var hash: UInt { chainHash(ofAddress: reference.address) }

    var typeName: String { "\(type)" }

    /// The object's type and address. Does not retain the object.
    var instance: String { describeInstance(of: typeName, at: identity) }

    func description(as role: String) -> String {
        reference.hasEnded ? "a deallocated \(role)" : instance
    }

    struct State {
        var attachments = AttachmentList()
        /// The centers with observers of this object as a sender, each with the number of its
        /// observers.
        var senderWatches: [(center: CenterCore, count: Int)] = []

        /// The first attached observer, if there is one, removed and with its state closed.
        struct RemovedFirst {
            var registration: OwnedRegistration?
            /// Whether no other observer is attached; true without `registration`.
            var isListEmpty = true
        }

        mutating func removeFirst() -> RemovedFirst {
            let registration = attachments.removeFirst()
            return RemovedFirst(registration: registration, isListEmpty: attachments.isEmpty)
        }

        var isUnused: Bool { attachments.isEmpty && senderWatches.isEmpty }
    }
}

extension HashChains<ObjectRecord> {
    /// The record of an object, not retained: the table retains a record until its removal.
    func find(_ identity: ObjectIdentifier) -> Unmanaged<ObjectRecord>? {
        let hash = chainHash(ofAddress: UInt(bitPattern: identity))
        return unsafe find(hash) { $0.identity == identity }
    }
}
