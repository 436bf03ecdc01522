/// The observers of one owner, in order of attachment: a list through their registrations, so that attaching allocates
/// nothing. Every operation is O(1), but for looking at all.
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

    /// Takes an observer out, if it is still in; the caller holds the registration.
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

    /// Takes the first out whose gate is open, and closes it. The list lets go of one that another thread ends, too: its
    /// center holds that one still, and the thread that closed its gate is the last to let go of it (R8).
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

    /// The observers' registrations, not held: what one that ends meanwhile captured goes with its end (R8).
    var registrations: [Unretained<Registration>] { listed.map { Unretained($0) } }

    /// Those of observers: what is attached without a token is none.
    private var listed: some Sequence<OwnedRegistration> {
        sequence(first: first, next: { $0?.next }).lazy.compactMap(\.self).filter { $0.token != nil }
    }
}
