extension NotifyingCenter {
    /// This center's observers, in registration order (L1).
    public func audit() -> Audit {
        let core = knownCore
        return Audit(core?.registrations() ?? [], ledgers: core.map { [$0.ledger] } ?? [])
    }
}
