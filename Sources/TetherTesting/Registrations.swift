internal import Tether

/// Finds the scope of each registration of the process, once there is a scope.
final class Registrations: Sendable {
    private static let shared = Registrations()

    private struct State: Sendable {
        /// Live registrations and their scopes, and in which order they came.
        var scopes: [WatchedRegistration.ID: (registration: WatchedRegistration, scope: WeakScope, order: Int)] = [:]
        /// Those of each center, so that a center's end grows with what it has itself.
        var onCenters: [RegistrationWatch.CenterNumber: Set<WatchedRegistration.ID>] = [:]
        var count = 0
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
                state.count += 1
                state.scopes[registration.id] = (registration, WeakScope(tracker: current), state.count)
                state.onCenters[registration.center, default: []].insert(registration.id)
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
            let known = state.scopes.removeValue(forKey: id)
            if let center = known?.registration.center {
                state.onCenters[center]?.remove(id)
                if state.onCenters[center]?.isEmpty == true { state.onCenters[center] = nil }
            }
            return (known, state.unattributed.removeValue(forKey: id))
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
        let live = state.withLock { state in (state.onCenters[center] ?? []).compactMap { state.scopes[$0] } }
        var ofScopes: [ObjectIdentifier: (scope: LeakTracker, registrations: [WatchedRegistration])] = [:]
        for (registration, scope, _) in live.sorted(by: { $0.order < $1.order }) {
            guard let tracker = scope.tracker else { continue }
            ofScopes[ObjectIdentifier(tracker), default: (tracker, [])].registrations.append(registration)
        }
        let kept = ofScopes.values.map { (scope: $0.scope, owners: $0.scope.ownersKept(by: $0.registrations)) }
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
