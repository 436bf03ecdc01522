// Work that ends with an owner: tasks, loops over sequences, and closures.
//
//     Task(owner: x) { … }   OwnedTask ┐
//     sequence.observe(owner: x) …     ├─ the hook of a registration in x's list, in no center
//     OwnerLifetime.whenEnded(x) { … } ┘
//
// A registration closes its state once, whether x ends, a token's `cancel()` comes first, or the
// operation returns. So the hook's `ended` runs once, on the thread that closed the state, with no
// lock held (R6). The registration's handler is never called. It holds the captures of the user's
// closure, where leak checks look for the owner.

extension OwnedRegistration {
    /// Makes the registration of a task, a loop or a closure. `held` holds the user's code.
    convenience init(
        for hook: RegistrationHook, key: (any Hashable)? = nil, at site: CallSite,
        holding held: @escaping Handler<AnyObject>
    ) {
        self.init(
            forEndReportedTo: hook, key: key.map { ObserverKey($0, at: site) },
            site: site.registrationSite, holding: held)
    }

    /// A handler with the captures of another function, the one property of `form`, for leak checks.
    /// Nobody calls it.
    @inline(__always)
    static func handler<Form>(withContextOf form: Form) -> Handler<AnyObject> {
        // SAFETY: a function is the address of its code and its context, and a copy retains the
        // context. A struct, because a cast of the function alone adds a thunk.
        unsafe unsafeBitCast(form, to: HandlerForm.self).function
    }

    private struct HandlerForm { let function: Handler<AnyObject> }

    /// Lists the registration under its owner, as an observer is listed, in place of the owner's
    /// work with an equal key, and reports it to leak checks. False if the owner is being
    /// deinitialized.
    func attach(as token: NotificationObserver, to owner: AnyObject, at site: CallSite) -> Bool {
        ObjectArgument.owner.check(owner, at: site)
        token.set(self)
        var replaced: OwnedRegistration?
        let isAttached = ObjectTable.shared.attach(
            self, to: owner, token: token, replacing: &replaced)
        replaced?.end()
        Events.report(.registered(self, name: nil, token: token))
        return isAttached
    }
}
