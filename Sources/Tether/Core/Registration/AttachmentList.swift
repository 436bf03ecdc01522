/// The observers of one owner, in order of attachment: a list through their registrations, so
/// attaching allocates nothing. Every operation is O(1), except the lists of all tokens and
/// of all work, and the search for a key.
///
/// SAFETY: the shard's lock protects the list; `last` is in the list, which retains its elements.
@safe struct AttachmentList {
    typealias Token = OwnedRegistration.Token

    private var first: OwnedRegistration?
    private var last: Unmanaged<OwnedRegistration>?

    var isEmpty: Bool { first == nil }

    mutating func append(
        _ registration: OwnedRegistration, token: (any Token)?, of owner: ObjectRecord
    ) {
        unsafe registration.ownerRecord = .passRetained(owner)
        registration.token = token
        unsafe registration.previous = last
        if let last = unsafe last {
            unsafe last._withUnsafeGuaranteedRef { $0.next = registration }
        }
        unsafe last = .passUnretained(registration)
        if first == nil { first = registration }
        checkInvariants()
    }

    /// Removes an observer, if the list has the observer. The caller retains the registration.
    mutating func remove(_ registration: OwnedRegistration) -> (any Token)? {
        guard registration.isListed else { return nil }
        unlink(registration)
        return registration.token.take()
    }

    private mutating func unlink(_ registration: OwnedRegistration) {
        let next = registration.next.take()
        if let next {
            unsafe next.previous = registration.previous
        } else {
            unsafe last = registration.previous
        }
        if let previous = unsafe registration.previous {
            unsafe previous._withUnsafeGuaranteedRef { $0.next = next }
        } else {
            first = next
        }
        unsafe registration.previous = .passUnretained(registration)
        checkInvariants()
    }

    /// Checks, in debug builds, that each registration's `previous` is the one before it, and that
    /// `last` ends the list.
    func checkInvariants() {
        #if DEBUG
        var previous: OwnedRegistration?
        var next = first
        var count = 0
        while let registration = next {
            guard count < checkedSize else { return }
            // SAFETY: the list retains its elements.
            let isLinked = unsafe registration.previous?.takeUnretainedValue() === previous
            assert(isLinked, "The links of an owner's list differ.")
            previous = registration
            next = registration.next
            count += 1
        }
        // SAFETY: the list retains its last element.
        let isLast = unsafe last?.takeUnretainedValue() === previous
        assert(isLast, "An owner's list ends elsewhere than at its last element.")
        #endif
    }

    /// Removes the first observer whose state is open, and closes the state. Closed registrations
    /// are also removed. This removal, under a lock, never is their last release: the center or the
    /// closing call retains a closed registration until its end is complete (R8).
    mutating func removeFirst() -> OwnedRegistration? {
        while let registration = first {
            unlink(registration)
            guard registration.close() else { continue }
            return registration
        }
        return nil
    }

    /// The observers as tokens for their users. A registration without a token is no observer.
    var tokens: [any Token] { registrations.compactMap(\.token) }

    /// The registrations of tasks, loops and closures.
    var work: [Unowned<Registration>] {
        registrations.filter { $0.workHook != nil }.map { Unowned($0) }
    }

    /// The live work with a key. The key of an observer also has an owner, and so differs.
    func work(with key: ObserverKey) -> OwnedRegistration? {
        var next = first
        while let registration = next {
            if registration.details?.key == key, !registration.hasEnded { return registration }
            next = registration.next
        }
        return nil
    }

    private var registrations: [OwnedRegistration] {
        guard let first else { return [] }
        return Array(sequence(first: first, next: \.next))
    }
}
