extension NotifyingCenter {
    /// This center's core, if it is Tether's own: `ObserverCenter` is final, so a look at the type will do.
    @inline(__always)
    var ownCore: CenterCore? { isOwn ? unsafe unsafeDowncast(self, to: ObserverCenter.self).core : nil }

    @inline(__always)
    var isOwn: Bool { type(of: self) == ObserverCenter.self }

    /// This center's core, or the one that stands beside it, if it has observers.
    var knownCore: CenterCore? { ownCore ?? ForeignCenters.shared.knownCore(of: self) }
}
