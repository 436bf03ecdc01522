/// The centers of the process, for audits of all of them (L1).
final class CenterDirectory: Sendable {
    static let shared = CenterDirectory()

    /// A center's core, which is not kept.
    private final class Entry: Sendable {
        let number: Int
        let center: ObjectIdentifier
        let core: OwnerReference<CenterCore>?

        init(number: Int, center: ObserverCenter) {
            self.number = number
            self.center = ObjectIdentifier(center)
            core = OwnerReference(center.core)
        }
    }

    private struct State: Sendable {
        var last = 0
        var entries: [ObjectIdentifier: Entry] = [:]
    }

    private let state = Guarded(State())

    func list(_ center: ObserverCenter) {
        state.withLock { state in
            state.last += 1
            state.entries[ObjectIdentifier(center.core)] = Entry(number: state.last, center: center)
        }
        RegistrationWatch.centerMade(center.core)
    }

    func unlist(_ center: ObserverCenter) {
        let entry = state.withLock { $0.entries.removeValue(forKey: ObjectIdentifier(center.core)) }
        withExtendedLifetime(entry) {}
    }

    /// The cores of all centers of Tether's own, in the order in which they were made.
    var cores: [CenterCore] {
        state.withLock { $0.entries.values.sorted { $0.number < $1.number }.compactMap { $0.core?.take() } }
    }

    /// What a center is called in audits: the shared ones by name, others by type and address.
    func description(of core: CenterCore) -> String {
        if core === ObserverCenter.default.core { return "ObserverCenter.default" }
        if core.foreignCenter != nil { return ForeignCenters.shared.description(of: core) }
        guard let entry = state.withLock({ $0.entries[ObjectIdentifier(core)] }) else {
            return "a center that has gone"
        }
        return describeInstance(of: ObserverCenter.self, at: entry.center)
    }
}
