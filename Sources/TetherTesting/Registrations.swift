internal import Tether

/// Records the scope of each registration of the process, while a scope is open.
enum Registrations {
    private struct State: Sendable {
        /// The live registrations, each with its scope and its place in the order of registration.
        var scopes:
            [WatchedRegistration.ID: (
                registration: WatchedRegistration, scope: WeakScope, order: Int
            )] = [:]
        /// The live registrations by center. So the cost of a center's end depends on its own
        /// registrations alone.
        var onCenters: [RegistrationWatch.CenterNumber: Set<WatchedRegistration.ID>] = [:]
        var lastOrder = 0
        var ending: [RegistrationWatch.CenterNumber: Ending] = [:]
        /// The registrations that end with their centers, with their owners, until the handlers are
        /// released.
        var beforeRelease:
            [WatchedRegistration.ID: (registration: WatchedRegistration, owner: WatchedObject)] =
                [:]
        /// The scopes of registrations until the scope closes. A handler may run after its
        /// registration has ended.
        var scopesOfHandlers: [WatchedRegistration.ID: WeakScope] = [:]
        var unattributed: [WatchedRegistration.ID: WatchedRegistration] = [:]
        var reported: Set<String> = []
    }

    private struct Ending: Sendable {
        /// The registrations whose owners are checked.
        let registrations: Set<WatchedRegistration.ID>
        /// For each scope the owners and tokens that handlers of the center seem to keep.
        let kept: [(scope: LeakTracker, owners: [KeptOwner], tokens: [KeptToken])]
        /// The owners that ended with their handlers.
        var gone: [KeptOwner] = []
    }

    /// A scope, retained by the test.
    struct WeakScope: Sendable { weak var tracker: LeakTracker? }

    private static let state = Locked(State())

    /// The number of open scopes, and one for the warning of self-captures. Locked around changes
    /// of the listener.
    private static let listeners = Locked(0, rank: .outer)

    /// Receives the events of registrations until a call of `stopListening()`.
    static func listen() {
        let old = listeners.withLock { count -> State? in
            count += 1
            guard count == 1 else { return nil }
            let old = forgetCenters()
            RegistrationWatch.listen { event in
                switch event {
                case .registered(let registration, let owner):
                    add(registration, owner: owner)
                    if let handler = registration.handler {
                        SelfCapture.check(handler, of: owner, at: registration)
                    }
                case .ended(let id): end(id)
                case .released(let id): released(id)
                case .centerMade(let center): LeakTracker.current?.add(center)
                case .centerEnds(let center): centerEnds(center)
                case .centerEnded(let center): centerEnded(center)
                }
            }
            return old
        }
        // Without the lock: the question retains a registration, and may release it last.
        if let old { forgetEnded(among: old) }
    }

    static func stopListening() {
        listeners.withLock { count in
            count -= 1
            if count == 0 { RegistrationWatch.listen(nil) }
        }
    }

    /// Forgets the centers that were ending when the listening ended. Returns what was known.
    private static func forgetCenters() -> State {
        state.withLock { state in
            let old = state
            state.ending = [:]
            state.beforeRelease = [:]
            return old
        }
    }

    /// Forgets the registrations that ended while nothing listened.
    private static func forgetEnded(among old: State) {
        let known = old.scopes.values.map(\.registration) + old.unattributed.values
        for registration in known where !registration.isActive { end(registration.id) }
    }

    private static func add(_ registration: WatchedRegistration, owner: AnyObject?) {
        let current = LeakTracker.current
        if current?.isClosed == true { return }
        state.withLock { state in
            if let current {
                state.lastOrder += 1
                state.scopes[registration.id] = (
                    registration, WeakScope(tracker: current), state.lastOrder
                )
                state.onCenters[registration.center, default: []].insert(registration.id)
                state.scopesOfHandlers[registration.id] = WeakScope(tracker: current)
            } else if registration.work == nil {
                state.unattributed[registration.id] = registration
            }
        }
        current?.add(registration, owner: owner)
        // If the registration ended meanwhile, the event of its end found nothing to remove. Nor
        // did a scope that closed meanwhile.
        if !registration.isActive { end(registration.id) }
        if current?.isClosed == true { forget([registration]) }
    }

    private static func end(_ id: WatchedRegistration.ID) {
        let (known, endsWithCenter, unattributed) = state.withLock { state in
            let known = state.scopes.removeValue(forKey: id)
            var endsWithCenter = false
            if let center = known?.registration.center {
                state.onCenters[center]?.remove(id)
                if state.onCenters[center]?.isEmpty == true { state.onCenters[center] = nil }
                endsWithCenter = state.ending[center]?.registrations.contains(id) == true
            }
            return (known, endsWithCenter, state.unattributed.removeValue(forKey: id))
        }
        withExtendedLifetime(unattributed) {}
        guard let (registration, scope, _) = known, let tracker = scope.tracker else { return }
        if endsWithCenter, let owner = tracker.livingOwner(of: registration) {
            state.withLock { $0.beforeRelease[id] = (registration, owner) }
        }
        tracker.registrationEnded(id)
    }

    /// Records the owner if it was alive before its center released the handler, and has ended
    /// since. Such an owner was kept by the captures of the handler alone.
    private static func released(_ id: WatchedRegistration.ID) {
        guard
            let (registration, owner) = state.withLock({ $0.beforeRelease.removeValue(forKey: id) }
            ), owner.hasEnded
        else { return }
        let kept = KeptOwner(owner, of: registration)
        state.withLock { $0.ending[registration.center]?.gone.append(kept) }
    }

    static func scope(of id: WatchedRegistration.ID) -> WeakScope? {
        state.withLock { $0.scopes[id]?.scope ?? $0.scopesOfHandlers[id] }
    }

    /// Forgets the registrations of a scope that closes. The argument keeps the IDs unique until
    /// then.
    static func forget(_ registrations: [WatchedRegistration]) {
        state.withLock { state in
            for registration in registrations { state.scopesOfHandlers[registration.id] = nil }
        }
    }

    private static func centerEnds(_ center: RegistrationWatch.CenterNumber) {
        let all = state.withLock { state in
            (state.onCenters[center] ?? []).compactMap { state.scopes[$0] }
        }
        // Owners of busy registrations are left out: a delivery might still end the owner's
        // observers.
        let busy = Set(
            all.map(\.registration).filter { $0.pending.count > 0 || $0.isRunning }.compactMap(
                \.owner))
        let live = all.filter { $0.registration.owner.map { !busy.contains($0) } ?? true }
        var ofScopes:
            [ObjectIdentifier: (scope: LeakTracker, registrations: [WatchedRegistration])] = [:]
        for (registration, scope, _) in live.sorted(by: { $0.order < $1.order }) {
            guard let tracker = scope.tracker else { continue }
            ofScopes[ObjectIdentifier(tracker), default: (tracker, [])].registrations.append(
                registration)
        }
        let kept = ofScopes.values.map { scope, registrations in
            let (owners, tokens) = scope.kept(by: registrations)
            return (scope: scope, owners: owners, tokens: tokens)
        }
        if !live.isEmpty {
            let ending = Ending(registrations: Set(live.map(\.registration.id)), kept: kept)
            state.withLock { $0.ending[center] = ending }
        }
    }

    private static func centerEnded(_ center: RegistrationWatch.CenterNumber) {
        let (ending, beforeRelease) = state.withLock { state in
            let old = state.beforeRelease
            state.beforeRelease = old.filter { $0.value.registration.center != center }
            return (state.ending.removeValue(forKey: center), old)
        }
        // Released without the lock: a watched object has a lock of its own.
        withExtendedLifetime(beforeRelease) {}
        guard let ending else { return }
        for (scope, owners, tokens) in ending.kept {
            scope.centerHasEnded(owners, gone: ending.gone, tokens)
        }
    }

    /// The live registrations without a scope on some centers, one for each site not reported
    /// before.
    static func newUnattributed(on centers: Set<RegistrationWatch.CenterNumber>)
        -> [WatchedRegistration]
    {
        let known = state.withLock { state in
            state.unattributed.values.filter { centers.contains($0.center) }
        }
        // Asked without the lock: the question retains a registration, and may release it last.
        let active = known.filter(\.isActive)
        return state.withLock { state in
            active.filter { state.reported.insert("\($0.site)").inserted }
        }
    }
}
