internal import Tether

/// Finds the scope of each registration of the process, once there is a scope.
final class Registrations: Sendable {
    private static let shared = Registrations()

    private struct State: Sendable {
        /// Live registrations and their scopes.
        var scopes: [WatchedRegistration.ID: (registration: WatchedRegistration, scope: WeakScope)] = [:]
        /// The scopes of registrations whose handlers may be running, though they have ended, until the scope has gone.
        var scopesOfHandlers: [WatchedRegistration.ID: WeakScope] = [:]
        /// Live registrations that belong to no scope.
        var unattributed: [WatchedRegistration.ID: WatchedRegistration] = [:]
        var reported: Set<String> = []
    }

    /// A scope, which the test keeps.
    struct WeakScope: Sendable { weak var tracker: LeakTracker? }

    private let state = Guarded(State())

    private static let start: Void = RegistrationWatch.listen(
        RegistrationWatch.Listener(
            registered: { registration, owner in
                shared.add(registration, owner: owner)
                if let handler = registration.handler {
                    SelfCapture.check(handler, of: owner, at: registration)
                }
            },
            ended: { shared.end($0) },
            centerMade: { center in
                LeakTracker.current?.state.withLock { _ = $0.centers.insert(center) }
            },
            centerEnds: { shared.centerEnds($0) }))

    /// Hears of registrations from now on.
    static func listen() { start }

    private func add(_ registration: WatchedRegistration, owner: AnyObject?) {
        let current = LeakTracker.current
        state.withLock { state in
            if let current {
                state.scopes[registration.id] = (registration, WeakScope(tracker: current))
                state.scopesOfHandlers[registration.id] = WeakScope(tracker: current)
            } else {
                state.unattributed[registration.id] = registration
            }
        }
        current?.add(registration, owner: owner)
        // A registration that ended meanwhile has been told of already.
        if !registration.isActive { end(registration.id) }
    }

    private func end(_ id: WatchedRegistration.ID) {
        let (known, unattributed) = state.withLock { state in
            (state.scopes.removeValue(forKey: id), state.unattributed.removeValue(forKey: id))
        }
        withExtendedLifetime(unattributed) {}
        known?.scope.tracker?.registrationEnded(id)
    }

    /// The scope of a registration that belongs, or belonged, to one; `nil` if it never did.
    static func scope(of id: WatchedRegistration.ID) -> WeakScope? {
        shared.state.withLock { $0.scopes[id]?.scope ?? $0.scopesOfHandlers[id] }
    }

    /// Lets go of what is known of the registrations of a scope that goes, and keeps their memory until now.
    static func forget(_ registrations: [WatchedRegistration]) {
        shared.state.withLock { state in
            for registration in registrations { state.scopesOfHandlers[registration.id] = nil }
        }
    }

    private func centerEnds(_ center: RegistrationWatch.CenterNumber) -> @Sendable () -> Void {
        let scopes = state.withLock { state in
            let scopes = state.scopes.values.compactMap(\.scope.tracker)
            return Dictionary(scopes.map { (ObjectIdentifier($0), $0) }) { first, _ in first }
        }
        let kept = scopes.values.map { (scope: $0, owners: $0.ownersKept(by: center)) }
        return { for (scope, owners) in kept where !owners.isEmpty { scope.centerHasEnded(owners) } }
    }

    /// The live registrations on some centers that belong to no scope and were not told of yet.
    static func newUnattributed(on centers: Set<RegistrationWatch.CenterNumber>) -> [WatchedRegistration] {
        shared.state.withLock { state in
            state.unattributed.values.filter { registration in
                registration.isActive && centers.contains(registration.center)
                    && state.reported.insert("\(registration.site)").inserted
            }
        }
    }
}
