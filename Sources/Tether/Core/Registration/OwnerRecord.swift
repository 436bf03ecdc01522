/// The record of one object while it is an owner or an observed sender: in `OwnerTable`, by the object's address.
///
/// It refers to its object by an unowned reference. That keeps the address from being used again, and the deallocator
/// hook sees by it that there may be a record. A registration that is attached to the object holds the record; the object holds nothing.
///
/// SAFETY: `state` and `next` are only touched under the lock of the object's shard in `OwnerTable`, which
/// makes accesses exclusive; the rest never changes.
@safe final class OwnerRecord: Chained, @unchecked Sendable {
    let reference: OwnerReference<AnyObject>
    private let type: AnyClass
    /// Protected by the shard's lock.
    @safe @exclusivity(unchecked) var state = State()
    /// Protected by the shard's lock.
    @safe @exclusivity(unchecked) var next: OwnerRecord?

    /// `nil` for an object that is being deinitialised.
    init?(_ object: AnyObject) {
        guard let reference = OwnerReference(object) else { return nil }
        self.reference = reference
        type = Swift.type(of: object)
    }

    var identity: ObjectIdentifier {
        // SAFETY: the address is that of an object; only its identity is used.
        unsafe unsafeBitCast(reference.rawAddress, to: ObjectIdentifier.self)
    }

    /// Addresses are spread by a multiplication. The upper bits of the product are the good ones: the highest choose a shard,
    /// and those that are left here a chain.
    static func hash(_ identity: ObjectIdentifier) -> UInt64 {
        UInt64(UInt(bitPattern: identity)) &* 0x9E37_79B9_7F4A_7C15
    }

    static func chainHash(_ identity: ObjectIdentifier) -> UInt { UInt(truncatingIfNeeded: hash(identity) >> 28) }

    var hash: UInt { OwnerRecord.chainHash(identity) }

    /// The object's type and address; it is not retained to find them.
    func description(as role: String) -> String {
        reference.hasEnded ? "\(role) that has gone" : describeInstance(of: type, at: identity)
    }

    /// Writes the beginning of the object's end into a trace.
    @inline(never)
    func traceEnd() -> UInt64 { TraceEvent.write(.begin, "end of ", describeInstance(of: type, at: identity)) }

    struct State {
        /// The owner's observers, in order of attachment.
        var attachments = AttachmentList()
        /// The centers that have observers of this object as a sender, each with how many.
        var senderWatches: [(center: CenterCore, count: Int)] = []
        /// Whether this object's end is seen as it happens; otherwise only a sweep sees it.
        var isExact = false

        /// An attached observer that was removed, with its gate closed, and whether no other is left.
        typealias First = (registration: OwnedRegistration?, isLast: Bool)

        mutating func removeFirst() -> First { (attachments.removeFirst(), attachments.isEmpty) }

        var isUnused: Bool { attachments.isEmpty && senderWatches.isEmpty }
    }
}

/// The observers of one owner, in order of attachment: a list through their registrations, so that attaching allocates
/// nothing. Every operation is O(1), but for those that return all.
///
/// SAFETY: as `OwnedRegistration`; `last` is in the list, which holds it.
@safe struct AttachmentList {
    typealias Token = OwnedRegistration.Token

    private var first: OwnedRegistration?
    private var last: Unmanaged<OwnedRegistration>?

    var isEmpty: Bool { first == nil }

    /// Puts an observer at the end.
    mutating func append(_ token: (any Token)?, as registration: OwnedRegistration, of owner: OwnerRecord) {
        unsafe registration.owner = .passRetained(owner)
        registration.token = token
        unsafe registration.previous = last
        if let last = unsafe last { unsafe last._withUnsafeGuaranteedRef { $0.next = registration } }
        unsafe last = .passUnretained(registration)
        if first == nil { first = registration }
        checkInvariants()
    }

    /// Removes an observer, if it is still in; the caller holds the registration.
    mutating func remove(_ registration: OwnedRegistration) -> (any Token)? {
        guard registration.isListed else { return nil }
        unlink(registration)
        return registration.token.take()
    }

    private mutating func unlink(_ registration: OwnedRegistration) {
        let next = registration.next.take()
        if let next { unsafe next.previous = registration.previous } else { unsafe last = registration.previous }
        if let previous = unsafe registration.previous {
            unsafe previous._withUnsafeGuaranteedRef { $0.next = next }
        } else {
            first = next
        }
        unsafe registration.previous = .passUnretained(registration)
        checkInvariants()
    }

    /// Whether the two directions agree, where there are few.
    private func checkInvariants() {
        #if DEBUG
        var (before, known, count) = (OwnedRegistration?.none, first, 0)
        while let registration = known, count < checkedSize {
            assert(unsafe registration.previous?.takeUnretainedValue() === before)
            (before, known, count) = (registration, registration.next, count + 1)
        }
        // SAFETY: the list holds its last element.
        if known == nil { assert(unsafe last?.takeUnretainedValue() === before) }
        #endif
    }

    /// Removes the first one whose gate is open, and closes it. The list releases one that another thread ends, too: its
    /// center still holds that one, and the thread that closed its gate is the last to release it (R8).
    mutating func removeFirst() -> OwnedRegistration? {
        while let registration = first {
            unlink(registration)
            guard registration.close() else { continue }
            return registration
        }
        return nil
    }

    /// The observers as their users know them.
    var tokens: [any Token] { listed.compactMap(\.token) }

    /// The observers' registrations, not held: the captures of one that ends meanwhile are released with its end (R8).
    var registrations: [Unretained<Registration>] { listed.map { Unretained($0) } }

    /// The registrations of observers: one that is attached without a token is none.
    private var listed: some Sequence<OwnedRegistration> {
        sequence(first: first, next: { $0?.next }).lazy.compactMap(\.self).filter { $0.token != nil }
    }
}
