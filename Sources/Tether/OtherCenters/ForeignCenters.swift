internal import Foundation

/// The cores that stand beside foreign centers, for keys, removal and audits, as long as they have observers.
final class ForeignCenters: Sendable {
    static let shared = ForeignCenters()

    private struct Entry: Sendable {
        let core: CenterCore
        /// Pins the center's address.
        let center: Pin
        var uses: Int
    }

    private final class Pin: Sendable {
        let reference: OwnerReference<AnyObject>
        let type: AnyClass

        init?(_ object: AnyObject) {
            guard let reference = OwnerReference(object) else { return nil }
            self.reference = reference
            type = Swift.type(of: object)
        }
    }

    private let entries = Guarded<[ObjectIdentifier: Entry]>([:])

    /// The core of a center that the caller holds; each call is matched by a `release`.
    func core(of center: any NotifyingCenter) -> CenterCore {
        let identity = ObjectIdentifier(center)
        return entries.withLock { entries in
            if let known = entries[identity] {
                entries[identity]?.uses += 1
                return known.core
            }
            let core = CenterCore(usesExactLifetimes: true, face: .foreign(identity))
            if let pin = Pin(center) { entries[identity] = Entry(core: core, center: pin, uses: 1) }
            return core
        }
    }

    func release(_ center: ObjectIdentifier) {
        let unused = entries.withLock { entries -> Entry? in
            entries[center]?.uses -= 1
            return entries[center]?.uses == 0 ? entries.removeValue(forKey: center) : nil
        }
        withExtendedLifetime(unused) {}
    }

    // MARK: Looking

    /// The core of a center, if it has observers.
    func knownCore(of center: any NotifyingCenter) -> CenterCore? {
        entries.withLock { $0[ObjectIdentifier(center)]?.core }
    }

    /// The cores of all foreign centers that have observers.
    var cores: [CenterCore] { entries.withLock { $0.values.map(\.core) } }

    /// The center that a core stands beside; `nil` if it has gone, or is going.
    func center(of core: CenterCore) -> (any NotifyingCenter)? {
        pin(of: core)?.reference.take() as? any NotifyingCenter
    }

    /// Whether the center that a core stands beside has gone, or is going.
    func hasEnded(_ core: CenterCore) -> Bool { pin(of: core)?.reference.hasEnded ?? true }

    /// The name of a foreign center in audits.
    func description(of core: CenterCore) -> String {
        guard let identity = core.foreignCenter, let pin = pin(of: core) else { return "a center that has gone" }
        return identity == ObjectIdentifier(NotificationCenter.default)
            ? "NotificationCenter.default" : describeInstance(of: pin.type, at: identity)
    }

    private func pin(of core: CenterCore) -> Pin? {
        entries.withLock { entries in
            guard let identity = core.foreignCenter, let entry = entries[identity], entry.core === core else {
                return nil
            }
            return entry.center
        }
    }
}
