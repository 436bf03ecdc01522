/// The record of one object while it is an owner or a watched sender.
///
/// SAFETY: `state` and `next` are only touched under the lock of the object's shard in `OwnerTable`, which upholds it, and
/// which makes accesses exclusive; the rest never changes.
@safe final class OwnerRecord: @unchecked Sendable {
    let reference: OwnerReference<AnyObject>
    private let type: AnyClass
    @safe @exclusivity(unchecked) var state = State()
    /// The next record in the same chain of `OwnerRecords`.
    @safe @exclusivity(unchecked) var next: OwnerRecord?

    init?(_ object: AnyObject) {
        guard let reference = OwnerReference(object) else { return nil }
        self.reference = reference
        type = Swift.type(of: object)
    }

    var identity: ObjectIdentifier {
        // SAFETY: the address is that of an object; only its identity is used.
        unsafe unsafeBitCast(reference.rawAddress, to: ObjectIdentifier.self)
    }

    /// The object's type and address; it is not retained to tell.
    func description(as role: String) -> String {
        reference.hasEnded ? "\(role) that has gone" : describeInstance(of: type, at: identity)
    }

    /// Tells a trace of the beginning of the object's end.
    @inline(never)
    func traceEnd() -> UInt64 { TraceEvent.write(.begin, "end of ", describeInstance(of: type, at: identity)) }

    struct State {
        /// The owner's observer objects, in order of attachment.
        var attachments = AttachmentList()
        /// The centers that have observers of this object as a sender, each with how many.
        var senderWatches: [(center: CenterCore, count: Int)] = []
        /// Whether this object's end is seen as it happens.
        var isExact = false
        /// The unowned count from which the rest of a postponed end is told by a fall (an `isolated deinit`).
        var postponedEnd: Int?

        /// An attached observer that was taken out, with its gate closed, and whether no other is left.
        typealias First = (registration: OwnedRegistration?, isLast: Bool)

        mutating func removeFirst() -> First { (attachments.removeFirst(), attachments.isEmpty) }

        var isUnused: Bool { attachments.isEmpty && senderWatches.isEmpty }
        var needsSweep: Bool { !isExact || postponedEnd != nil }
    }
}
