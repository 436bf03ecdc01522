extension OwnerTable {
    /// The observers of an owner, in order of attachment.
    func observers(of owner: AnyObject) -> [NotificationObserver] {
        // SAFETY: nothing else is ever attached to an owner; see `ObservationRequest.register`.
        tokens(of: owner).map { unsafe unsafeDowncast($0, to: NotificationObserver.self) }
    }
}
