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
        let next = registration.next.take()
        if let next { unsafe next.previous = registration.previous } else { unsafe last = registration.previous }
        if let previous = unsafe registration.previous {
            unsafe previous._withUnsafeGuaranteedRef { $0.next = next }
        } else {
            first = next
        }
        unsafe registration.previous = .passUnretained(registration)
        checkInvariants()
        return registration.token.take()
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

    /// Takes all out, and closes their gates, for `Chain` to end them one by one. One that another thread ends is left to
    /// that one, which has yet to take it off the list, and is the last to hold it then (R8).
    mutating func removeAll() -> Chain {
        var (chain, rest) = (Chain(), first.take())
        unsafe last = nil
        while let registration = rest {
            unsafe registration.previous = .passUnretained(registration)
            rest = registration.next.take()
            if registration.close() { chain.append(registration) }
        }
        return chain
    }

    /// The observers as their users know them.
    var tokens: [any Token] { listed.compactMap(\.token) }

    /// The observers' registrations, not held: what one that ends meanwhile captured goes with its end (R8).
    var registrations: [Unretained<Registration>] { listed.map { Unretained($0) } }

    /// Those of observers: what is attached without a token is none.
    private var listed: some Sequence<OwnedRegistration> {
        sequence(first: first, next: { $0?.next }).lazy.compactMap(\.self).filter { $0.token != nil }
    }

    /// Registrations that were taken out of their list together, and are in no other's reach.
    struct Chain: Sendable {
        private var first: OwnedRegistration?
        private var last: OwnedRegistration?

        fileprivate mutating func append(_ registration: OwnedRegistration) {
            if let last { last.next = registration } else { first = registration }
            last = registration
        }

        /// Ends all, in order; what held each is let go one by one, never as a whole.
        // Not inlined: the optimiser of 6.3 crashes on it where it is.
        @inline(never)
        mutating func end() {
            last = nil
            while let registration = first.take() {
                first = registration.next.take()
                let token = registration.token.take()
                registration.finish(because: .ownerEnded)
                withExtendedLifetime(token) {}
            }
        }
    }
}
