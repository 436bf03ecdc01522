internal import Foundation

// The two kinds of registrations: with a handler that takes only the notification, and with one
// that also takes the owner.

/// A registration whose handler takes only the notification.
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

/// A registration attached to an owner. The handler also takes the owner.
/// SAFETY: each field states its protection.
@safe final class OwnedRegistration: Registration, @unchecked Sendable {
    /// The observer's token for the owner and the user.
    typealias Token = AnyObject & Sendable
    typealias Handler<Owner> = @Sendable (Owner, Notification) -> Void

    let handler: Handler<AnyObject>
    /// The owner's record, retained here, so posts need not retain it; `nil` if the owner was being
    /// deinitialised. Written once, before posts find the registration.
    var ownerRecord: Unmanaged<ObjectRecord>?

    // The place in the owner's list. Protected by the lock of the owner's shard. After a removal,
    // these fields belong to the removing thread if it closed the state, and otherwise to nobody.
    var token: (any Token)?
    var next: OwnedRegistration?
    /// The previous registration; `nil` for the first, and itself while the registration is in no
    /// list.
    var previous: Unmanaged<OwnedRegistration>?

    private init(
        center: CenterCore, details: Details?, flags: UInt32, site: RegistrationSite,
        form: Form<AnyObject>
    ) {
        handler = form.function
        super.init(center: center, details: details, flags: flags | StateBits.owned, site: site)
        unsafe previous = .passUnretained(self)
    }

    @inline(__always)
    convenience init<Owner: AnyObject>(
        center: CenterCore, details: Details?, flags: UInt32, site: RegistrationSite,
        handler: @escaping Handler<Owner>
    ) {
        // SAFETY: a function takes an instance of any class in the same way, and this handler is
        // only called with the owner. The cast is of a struct, because a cast of the function alone
        // adds a thunk.
        let form = unsafe unsafeBitCast(Form(function: handler), to: Form<AnyObject>.self)
        self.init(center: center, details: details, flags: flags, site: site, form: form)
    }

    /// The center of the registrations that are in no center: no post reaches it.
    private static let coreOfWork = CenterCore()

    /// Makes a registration in no center, for the end of its future owner, which the hook reports.
    /// The handler is never called; it holds what leak checks look through.
    convenience init(
        forEndReportedTo hook: RegistrationHook, key: ObserverKey? = nil, site: RegistrationSite,
        holding held: @escaping Handler<AnyObject> = { _, _ in }
    ) {
        self.init(
            center: OwnedRegistration.coreOfWork, details: Details(key: key, hooks: [hook]),
            flags: StateBits.outside, site: site, handler: held)
    }

    private struct Form<Owner: AnyObject> { let function: Handler<Owner> }

    deinit { _ = unsafe ownerRecord?.takeRetainedValue() }

    var record: ObjectRecord? { unsafe ownerRecord?.takeUnretainedValue() }

    // SAFETY: only addresses are compared.
    var isListed: Bool { unsafe previous?.toOpaque() != Unmanaged.passUnretained(self).toOpaque() }

    /// Calls the handler with the owner, which is retained for the call (O4, O9).
    @inline(__always)
    func callHandler(_ notification: Notification) {
        // SAFETY: the registration retains the record.
        guard let owner = unsafe ownerRecord?._withUnsafeGuaranteedRef({ $0.reference.retained })
        else {
            return noticeOwnerEnd()
        }
        handler(owner, notification)
    }

    /// Ends the observers of an owner whose end was not seen (O10).
    @inline(never)
    private func noticeOwnerEnd() {
        if let record { ObjectTable.shared.noticeEnd(of: record) }
    }
}
