// Work that ends with an owner: tasks, loops over sequences, and closures.
//
//     Task(owner: x) { … }   OwnedTask ┐
//     sequence.observe(owner: x) …     ├─ the hook of a registration in x's list, in no center
//     OwnerLifetime.whenEnded(x) { … } ┘
//
// A registration closes its state once, whether x ends, a token's `cancel()` comes first, or the
// operation returns. So the hook's `ended` runs once, on the thread that closed the state, with no
// lock held (R6). The registration's handler is never called. It holds the user's closure, where
// leak checks look for captures of the owner.

extension OwnedRegistration {
    /// Makes the registration of a task, a loop or a closure. `held` holds the user's code.
    convenience init(
        for hook: RegistrationHook, at site: CallSite, holding held: @escaping Handler<AnyObject>
    ) {
        self.init(forEndReportedTo: hook, site: site.registrationSite, holding: held)
    }

    /// Lists the registration under its owner, as an observer is listed, and reports it to leak
    /// checks. False if the owner is being deinitialised.
    func attach(as token: NotificationObserver, to owner: AnyObject, at site: CallSite) -> Bool {
        ObjectArgument.owner.check(owner, at: site)
        token.set(self)
        let isAttached = ObjectTable.shared.attach(self, to: owner, token: token)
        Events.report(.registered(self, name: nil, token: token))
        return isAttached
    }
}
