extension Registration {
    /// What most registrations have no need of.
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
}
