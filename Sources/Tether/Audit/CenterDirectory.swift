/// The centers of the process, for audits of all of them (L1).
final class CenterDirectory: Sendable {
    static let shared = CenterDirectory()

    /// A center's core, which is not kept.
    private final class Entry: Sendable {
        let number: RegistrationWatch.CenterNumber
        let center: ObjectIdentifier
        let core: OwnerReference<CenterCore>?

        init(_ center: ObserverCenter) {
            number = center.core.number
            self.center = ObjectIdentifier(center)
            core = OwnerReference(center.core)
        }
    }

    private let entries = Guarded<[ObjectIdentifier: Entry]>([:])

    func list(_ center: ObserverCenter) {
        let entry = Entry(center)
        entries.withLock { $0[ObjectIdentifier(center.core)] = entry }
        RegistrationWatch.centerMade(center.core)
    }

    func unlist(_ center: ObserverCenter) {
        let entry = entries.withLock { $0.removeValue(forKey: ObjectIdentifier(center.core)) }
        withExtendedLifetime(entry) {}
    }

    /// The cores of all centers of Tether's own, in the order in which they were made.
    var cores: [CenterCore] {
        entries.withLock { $0.values.sorted { $0.number < $1.number }.compactMap { $0.core?.take() } }
    }

    /// What a center is called in audits: the shared ones by name, others by type and address.
    func description(of core: CenterCore) -> String {
        if core === ObserverCenter.default.core { return "ObserverCenter.default" }
        if core.foreignCenter != nil { return ForeignCenters.shared.description(of: core) }
        guard let entry = entries.withLock({ $0[ObjectIdentifier(core)] }) else {
            return "a center that has gone"
        }
        return describeInstance(of: ObserverCenter.self, at: entry.center)
    }
}
