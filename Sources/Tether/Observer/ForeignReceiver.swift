internal import Dispatch
internal import Foundation

/// The box that a foreign center's closure captures: all that center ever holds of an observer (F2).
///
/// Ending the observer empties the box and calls nothing. The emptied closure is taken off its center later, on a
/// queue where none of that center's locks can be held.
final class ForeignReceiver: Sendable {
    private struct State: Sendable {
        var registration: Registration?
        var cancellation: (any NotifyingRegistration)?
        var hasEnded = false
    }

    private static let cleaner = DispatchQueue(label: "Tether.ForeignReceiver.cleaner")

    private let state = Guarded(State())

    func open(for registration: Registration) {
        state.withLock { if !$0.hasEnded { $0.registration = registration } }
    }

    /// Takes what cancels the closure; cancels it if the observer has ended meanwhile.
    func setCancellation(_ cancellation: any NotifyingRegistration) {
        let isLate = state.withLock { state in
            if !state.hasEnded { state.cancellation = cancellation }
            return state.hasEnded
        }
        if isLate { ForeignReceiver.cleaner.async { cancellation.cancel() } }
    }

    func receive(_ notification: Notification) {
        guard let registration = state.withLock({ $0.registration }) else { return }
        registration.center.deliver(notification, to: registration)
    }

    /// Empties the box; what was in it is released after the lock.
    func end() {
        let (registration, cancellation) = state.withLock { state in
            state.hasEnded = true
            return (state.registration.take(), state.cancellation.take())
        }
        if let cancellation { ForeignReceiver.cleaner.async { cancellation.cancel() } }
        withExtendedLifetime(registration) {}
    }
}

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

        init?(_ object: AnyObject) {
            guard let reference = OwnerReference(object) else { return nil }
            self.reference = reference
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
            let core = CenterCore(usesExactLifetimes: true, foreignCenter: identity)
            if let pin = Pin(center) { entries[identity] = Entry(core: core, center: pin, uses: 1) }
            return core
        }
    }

    /// The core of a center, if it has observers.
    func knownCore(of center: any NotifyingCenter) -> CenterCore? {
        entries.withLock { $0[ObjectIdentifier(center)]?.core }
    }

    /// The cores of all foreign centers that have observers.
    var cores: [CenterCore] { entries.withLock { $0.values.map(\.core) } }

    func release(_ center: ObjectIdentifier) {
        let unused = entries.withLock { entries -> Entry? in
            entries[center]?.uses -= 1
            return entries[center]?.uses == 0 ? entries.removeValue(forKey: center) : nil
        }
        withExtendedLifetime(unused) {}
    }
}
