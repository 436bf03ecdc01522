extension Registration {
    /// The rare parts of a registration, which most have no need of.
    ///
    /// SAFETY: a key's value is only compared and hashed; all else is Sendable.
    final class Details: @unchecked Sendable {
        let sender: OwnerRecord?
        let key: ObserverKey?
        /// The first of the hooks, which is a list of them.
        let hooks: RegistrationHook?
        /// The hook that is asked about every post.
        let preparing: RegistrationHook?

        init(sender: OwnerRecord? = nil, key: ObserverKey? = nil, hooks: RegistrationHook? = nil) {
            self.sender = sender
            self.key = key
            self.hooks = hooks
            preparing = hooks?.first(where: \.prepares)
        }
    }

    /// The slot of a registration that ended before it could be added.
    static let neverInASlot = UInt32.max

    final var details: Details? { rare.details }

    /// The pending deliveries, from the first time that the target is not the poster, or that it is muted or bounded.
    final var inbox: Inbox? { rare.inbox }

    /// The hook that takes the deliveries in the target's place.
    final var keeper: RegistrationHook? { details?.hooks?.first { $0.targetDescription != nil } }

    /// Whether its target is the main queue.
    final var isDeliveredOnMain: Bool {
        inbox?.state.withLock { $0.route.mailbox === MainDrains.mailbox } ?? false
    }
}
