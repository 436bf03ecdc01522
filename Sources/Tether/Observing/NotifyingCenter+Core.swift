extension NotifyingCenter {
    /// This center's core, if it is Tether's own: `ObserverCenter` is final, so a look at the type will do.
    @inline(__always)
    var ownCore: CenterCore? {
        guard type(of: self) == ObserverCenter.self else { return nil }
        return unsafe unsafeDowncast(self, to: ObserverCenter.self).core
    }

    /// This center's core, or the one that stands beside it, if it has observers.
    var knownCore: CenterCore? { ownCore ?? ForeignCenters.shared.knownCore(of: self) }
}
