/// The objects in use by what each is for, which an object in use keeps from being another's: one for each identity, made when
/// the first needs it and forgotten when the last has let go.
final class SharedObjects<Identity: Hashable & Sendable, Object: AnyObject & Sendable>: Sendable {
    private let entries = Locked<[Identity: Unowned<Object>]>([:])

    /// Finds the object of an identity, or makes it with what it is to call in its `deinit`.
    func object(of identity: Identity, make: (_ whenUnused: @escaping @Sendable () -> Void) -> Object) -> Object {
        if let known = entries.withLock({ $0[identity]?.take() }) { return known }
        let made = make { [unowned self] in
            // Another one that is found here may have no other holder by now, so it goes outside the lock too.
            let other = self.entries.withLock { entries -> Object? in
                let other = entries[identity]?.take()
                if other == nil { entries[identity] = nil }
                return other
            }
            withExtendedLifetime(other) {}
        }
        // Outside the lock, because an object that is not needed ends here, and looks into the table.
        return withExtendedLifetime(made) {
            entries.withLock { entries in
                if let known = entries[identity]?.take() { return known }
                entries[identity] = Unowned<Object>(made)
                return made
            }
        }
    }
}
