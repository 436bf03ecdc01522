extension OwnerTable {
    /// The observers of an owner, in order of attachment.
    func observers(of owner: AnyObject) -> [NotificationObserver] { tokens(of: owner).observers }
}

extension [any OwnedRegistration.Token] {
    /// The tokens as what they are.
    var observers: [NotificationObserver] {
        // SAFETY: nothing else is ever attached to an owner; see `ObservationRequest.register`.
        map { unsafe unsafeDowncast($0, to: NotificationObserver.self) }
    }
}
