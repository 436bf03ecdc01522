internal import Foundation

/// A registration that calls its handler with the notification alone.
///
/// SAFETY: `handler` never changes.
final class PlainRegistration: Registration, @unchecked Sendable {
    let handler: @Sendable (Notification) -> Void

    init(
        center: CenterCore, details: Details? = nil, flags: UInt32 = 0, site: RegistrationSite,
        handler: @escaping @Sendable (Notification) -> Void
    ) {
        self.handler = handler
        super.init(center: center, details: details, flags: flags, site: site)
    }
}

/// A registration that is attached to an owner, which its handler is handed.
///
/// SAFETY: `handler` never changes; `owner` is set before anything can be delivered, and never changes after it; all
/// else is only touched under the lock of the owner's shard, through `AttachmentList`.
@safe final class OwnedRegistration: Registration, @unchecked Sendable {
    typealias Handler<Owner> = @Sendable (Owner, Notification) -> Void

    let handler: Handler<AnyObject>
    /// The owner's record, held by this, so that a post needs not retain it; `nil` if the owner was being deinitialised.
    fileprivate(set) var owner: Unmanaged<OwnerRecord>?

    // The place in the owner's list.
    fileprivate var observer: NotificationObserver?
    fileprivate var next: OwnedRegistration?
    /// The one before; itself while this is in no list.
    fileprivate var previous: Unmanaged<OwnedRegistration>?

    /// Makes one that is going to be attached to an owner of type `Owner`.
    init<Owner: AnyObject>(
        center: CenterCore, details: Details?, flags: UInt32, site: RegistrationSite,
        handler: @escaping Handler<Owner>
    ) {
        // SAFETY: a function takes a class instance in the same way whatever its class, and this one is only ever handed
        // the owner. It is cast in a struct, because one that is cast by itself gets a thunk around it.
        self.handler = unsafe unsafeBitCast(Form(function: handler), to: Form<AnyObject>.self).function
        super.init(center: center, details: details, flags: flags | State.owned, site: site)
        unsafe previous = .passUnretained(self)
    }

    private struct Form<Owner: AnyObject> {
        let function: Handler<Owner>
    }

    deinit { _ = unsafe owner?.takeRetainedValue() }

    var record: OwnerRecord? { unsafe owner?.takeUnretainedValue() }

    // SAFETY: only addresses are compared.
    fileprivate var isListed: Bool { unsafe previous?.toOpaque() != Unmanaged.passUnretained(self).toOpaque() }

    /// Calls the handler with the owner, which is held for the call and let go after it (O4, O9).
    @inline(__always)
    func callHandler(_ notification: Notification) {
        // SAFETY: this holds the record.
        guard let owner = unsafe owner?._withUnsafeGuaranteedRef({ $0.reference.take() }) else { return collect() }
        handler(owner, notification)
    }

    /// Does for an owner whose end was not seen what its end would have done (O10).
    @inline(never)
    private func collect() {
        if let record { OwnerTable.shared.collect(record) }
    }
}

/// The observers of one owner, in order of attachment: a list through their registrations, so that attaching allocates
/// nothing. Every operation is O(1), but for looking at all.
///
/// SAFETY: as `OwnedRegistration`; `last` is in the list, which holds it.
@safe struct AttachmentList {
    private var first: OwnedRegistration?
    private var last: Unmanaged<OwnedRegistration>?

    var isEmpty: Bool { first == nil }

    /// Puts an observer at the end.
    mutating func append(_ observer: NotificationObserver?, as registration: OwnedRegistration, of owner: OwnerRecord) {
        unsafe registration.owner = .passRetained(owner)
        registration.observer = observer
        unsafe registration.previous = last
        if let last = unsafe last { unsafe last._withUnsafeGuaranteedRef { $0.next = registration } }
        unsafe last = .passUnretained(registration)
        if first == nil { first = registration }
    }

    /// Takes an observer out, if it is still in; the caller holds the registration.
    mutating func remove(_ registration: OwnedRegistration) -> NotificationObserver? {
        guard registration.isListed else { return nil }
        let next = registration.next.take()
        if let next { unsafe next.previous = registration.previous } else { unsafe last = registration.previous }
        if let previous = unsafe registration.previous {
            unsafe previous._withUnsafeGuaranteedRef { $0.next = next }
        } else {
            first = next
        }
        unsafe registration.previous = .passUnretained(registration)
        return registration.observer.take()
    }

    /// Takes all out, for `Chain` to hand over one by one.
    mutating func removeAll() -> Chain {
        var registration = first
        while let known = registration {
            unsafe known.previous = .passUnretained(known)
            registration = known.next
        }
        unsafe last = nil
        return Chain(first: first.take())
    }

    var observers: [NotificationObserver] {
        var observers: [NotificationObserver] = []
        var registration = first
        while let known = registration {
            if let observer = known.observer { observers.append(observer) }
            registration = known.next
        }
        return observers
    }

    /// Registrations that were taken out of their list together, and are in no other's reach.
    struct Chain: Sendable {
        fileprivate var first: OwnedRegistration?

        /// Ends all, in order; what held each is let go one by one, never as a whole.
        // Not inlined: the optimiser of 6.3 crashes on it where it is.
        @inline(never)
        mutating func end() {
            while let registration = first.take() {
                first = registration.next.take()
                let observer = registration.observer.take()
                registration.endDetached()
                withExtendedLifetime(observer) {}
            }
        }
    }
}

extension Registration {
    /// Ends a once observer whose handler has ended its thread: the handler has used it up (R7).
    ///
    /// SAFETY: a level that is in use announces the address, and what it announces outlives it.
    static func forsake(at address: UInt) {
        guard let called = unsafe UnsafeRawPointer(bitPattern: address) else { return }
        let registration = unsafe Unmanaged<Registration>.fromOpaque(called).takeUnretainedValue()
        if registration.isOnce, registration.isClaimed { registration.end() }
    }
}
