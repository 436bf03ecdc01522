internal import Foundation

/// A registration that is attached to an owner, which its handler is handed.
///
/// SAFETY: `handler` never changes; `owner` is set before anything can be delivered, and never changes after it; all
/// else is only touched under the lock of the owner's shard, through `AttachmentList`, or, when the list has let go of it,
/// by the thread that took it out and closed its gate.
@safe final class OwnedRegistration: Registration, @unchecked Sendable {
    /// The observer as its owner holds it, and its user knows it.
    typealias Token = AnyObject & Sendable
    typealias Handler<Owner> = @Sendable (Owner, Notification) -> Void

    let handler: Handler<AnyObject>
    /// The owner's record, held by this, so that a post needs not retain it; `nil` if the owner was being deinitialised.
    var owner: Unmanaged<OwnerRecord>?

    // The place in the owner's list.
    var token: (any Token)?
    var next: OwnedRegistration?
    /// The one before; itself while this is in no list.
    var previous: Unmanaged<OwnedRegistration>?

    private init(
        center: CenterCore, details: Details?, flags: UInt32, site: RegistrationSite, form: Form<AnyObject>
    ) {
        handler = form.function
        super.init(center: center, details: details, flags: flags | State.owned, site: site)
        unsafe previous = .passUnretained(self)
    }

    /// Makes one that is going to be attached to an owner of type `Owner`.
    @inline(__always)
    convenience init<Owner: AnyObject>(
        center: CenterCore, details: Details?, flags: UInt32, site: RegistrationSite,
        handler: @escaping Handler<Owner>
    ) {
        // SAFETY: a function takes a class instance in the same way whatever its class, and this one is only ever handed
        // the owner. It is cast in a struct, because one that is cast by itself gets a thunk around it.
        let form = unsafe unsafeBitCast(Form(function: handler), to: Form<AnyObject>.self)
        self.init(center: center, details: details, flags: flags, site: site, form: form)
    }

    /// Makes one that is in no center, though it names one, and has no observer: the hook tells the end of the object that it
    /// is going to be attached to.
    convenience init(outside center: CenterCore, hook: RegistrationHook, site: RegistrationSite) {
        // Not covered: the handler, because no post calls it.
        self.init(
            center: center, details: Details(hooks: hook), flags: 0, site: site,
            handler: { (_: AnyObject, _: Notification) in })
    }

    private struct Form<Owner: AnyObject> {
        let function: Handler<Owner>
    }

    deinit { _ = unsafe owner?.takeRetainedValue() }

    var record: OwnerRecord? { unsafe owner?.takeUnretainedValue() }

    // SAFETY: only addresses are compared.
    var isListed: Bool { unsafe previous?.toOpaque() != Unmanaged.passUnretained(self).toOpaque() }

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
