internal import Synchronization

/// The parts of a registration that most have no need of, in one word: details, which never change, and an inbox, which is
/// made by whoever needs it first.
///
/// SAFETY: the word is 0 or the address of an object that this holds until `deinit`: of an inbox, with the lowest bit set,
/// which then holds the details; otherwise of the details.
@safe struct RareParts: ~Copyable, Sendable {
    private let word: Atomic<UInt>

    init(_ details: Registration.Details?) {
        // SAFETY: given back in `deinit`, or when an inbox has taken them over.
        word = Atomic(details.map { unsafe UInt(bitPattern: Unmanaged.passRetained($0).toOpaque()) } ?? 0)
    }

    deinit {
        let word = word.load(ordering: .acquiring)
        if let inbox = unsafe RareParts.inbox(in: word) {
            // Another thread may have the inbox a moment longer, and is not to keep a key that the user gave.
            unsafe inbox._withUnsafeGuaranteedRef { unsafe $0.details = nil }
            unsafe inbox.release()
        }
        unsafe RareParts.details(in: word)?.release()
    }

    var isEmpty: Bool { word.load(ordering: .acquiring) == 0 }

    var details: Registration.Details? {
        let word = word.load(ordering: .acquiring)
        if let inbox = unsafe RareParts.inbox(in: word) {
            return unsafe inbox._withUnsafeGuaranteedRef { unsafe $0.details }
        }
        return unsafe RareParts.details(in: word)?.takeUnretainedValue()
    }

    @inline(__always)
    var inbox: Inbox? { unsafe RareParts.inbox(in: word.load(ordering: .acquiring))?.takeUnretainedValue() }

    /// Calls `body` with the inbox, if there is one, without retaining it; the caller holds this.
    @inline(__always)
    func withInbox(_ body: (Inbox) -> Void) {
        // Not covered: the return, because this is only used where one is known to be there.
        guard let inbox = unsafe RareParts.inbox(in: word.load(ordering: .acquiring)) else { return }
        unsafe inbox._withUnsafeGuaranteedRef(body)
    }

    /// Sets the inbox of a registration, which has this, unless there is one; returns the one that there is now.
    func setInboxIfNil(_ inbox: Inbox, of registration: Registration) -> Inbox {
        let old = word.load(ordering: .acquiring)
        if let known = unsafe RareParts.inbox(in: old) { return unsafe known.takeUnretainedValue() }
        // SAFETY: nobody else has the inbox yet. What is retained here is given back below, or in `deinit`.
        unsafe inbox.details = unsafe RareParts.details(in: old)?.takeUnretainedValue()
        inbox.setRegistration(registration)
        let made = unsafe Unmanaged.passRetained(inbox)
        let (exchanged, current) = word.compareExchange(
            expected: old, desired: unsafe UInt(bitPattern: made.toOpaque()) | 1, ordering: .acquiringAndReleasing)
        // Not covered: another thread, which has set one meanwhile: the only change that there is.
        guard exchanged else {
            unsafe made.release()
            return unsafe RareParts.inbox(in: current)!.takeUnretainedValue()
        }
        unsafe RareParts.details(in: old)?.release()
        return inbox
    }

    @inline(__always)
    private static func inbox(in word: UInt) -> Unmanaged<Inbox>? {
        guard word & 1 == 1, let address = unsafe UnsafeRawPointer(bitPattern: word & ~1) else { return nil }
        // SAFETY: the bit tells what the address is that of.
        return unsafe Unmanaged.fromOpaque(address)
    }

    private static func details(in word: UInt) -> Unmanaged<Registration.Details>? {
        guard word & 1 == 0, let address = unsafe UnsafeRawPointer(bitPattern: word) else { return nil }
        // SAFETY: the bit tells what the address is that of.
        return unsafe Unmanaged.fromOpaque(address)
    }
}
