internal import Foundation

/// The deliveries that are pending for one observer, its target, and its muting.
///
/// It exists from the first time that the observer has a target other than the poster, is muted or bounded.
final class Inbox: Sendable {
    let state: Guarded<State>
    /// The oldest pending deliveries, the oldest last, while a drain delivers them: so that the drain, which takes one after
    /// the other, and posts, which add to the state, do not wait for each other. The last lock that is taken.
    let batch = Guarded<ContiguousArray<Delivery>>([], rank: .batch)

    /// The registration's, which this has in its place.
    ///
    /// SAFETY: set by `RareParts`, before it hands the inbox on.
    nonisolated(unsafe) var details: Registration.Details?

    /// The memory of the registration that this is the inbox of, and what keeps it. What its handler captured goes with its
    /// end, whoever has deliveries in hand just then (R8).
    ///
    /// SAFETY: as above.
    @exclusivity(unchecked) nonisolated(unsafe) private var knownMemory: RegistrationMemory?
    @exclusivity(unchecked) nonisolated(unsafe) private var reference: UnownedReference<Registration>?

    init(route: Route) {
        state = Guarded(State(route: route), rank: .inbox)
    }

    /// To be called before this is handed on.
    func setRegistration(_ registration: Registration) {
        unsafe reference = UnownedReference(registration)
        unsafe knownMemory = RegistrationMemory(of: registration)
    }

    /// The registration's memory. The registration may have gone, but not while something is pending, under the lock.
    var memory: RegistrationMemory { unsafe knownMemory! }

    /// Calls `body` with the state, after everything that is pending was put back into it.
    func withState<Result>(_ body: (inout State) -> sending Result) -> sending Result {
        state.withLock { state in
            batch.withLock { state.pending.putBack(&$0) }
            defer { state.lookForPlain() }
            return body(&state)
        }
    }

    /// The target as the user gave it last.
    var target: DeliveryTarget { withState { ($0.nextSwitch?.route ?? $0.route).target } }

    /// Where it delivers now; another target may have been asked for.
    var route: Route { withState(\.route) }

    /// Returns what `body` makes of the pending notifications, oldest first, and of the one that is kept while muted.
    ///
    /// `body` is called under the lock, where they are held by this, so that whoever looks is not the last to let them go.
    func mapNotifications<Result: Sendable>(_ body: @Sendable (Notification) -> Result) -> [Result] {
        withState { state in
            (state.pending.elements + (state.flow.kept.map { [$0] } ?? [])).map { body($0.stored.notification) }
        }
    }

    /// How many deliveries wait on the target, how many until the observer is unmuted; how many were dropped; and how
    /// many mutings are in force.
    struct Report {
        /// Described by who has the report: the name of a queue is the user's code.
        var target = DeliveryTarget.poster
        var pending = 0
        var kept = 0
        var dropped = 0
        var muted = 0
    }

    /// The report, and what a hook has meanwhile, so that an element on its way from one to the other is in one.
    func report(with hook: RegistrationHook?) -> (Report, (pending: Int, dropped: Int)) {
        withState { state in
            let report = Report(
                target: (state.nextSwitch?.route ?? state.route).target, pending: state.pending.count,
                kept: state.flow.kept == nil ? 0 : 1, dropped: state.dropped, muted: state.flow.mutings)
            return (report, hook?.counts ?? (0, 0))
        }
    }

    var counts: (pending: Int, dropped: Int) { withState { ($0.pending.count, $0.dropped) } }

    // MARK: The end

    /// Ends the observer, whose sender has gone, after what is pending (M5).
    func endAfterPending() {
        let isLeftToPosts = withState { state in
            state.isLast = true
            return state.beginRemainder()
        }
        if isLeftToPosts { deliverPending() } else { endIfDone() }
    }

    func endIfDone() {
        if withState(\.isDone) { memory.endOrphaned() }
    }

    /// Takes no more; the caller releases what this returns.
    func end() -> [any Sendable] {
        withState { state in
            state.hasEnded = true
            let forgone = state.nextSwitch.take()
            let (deliveries, kept) = (state.pending.removeAll(), state.flow.takeKept())
            traceDrops(deliveries, because: "its observer ends")
            if let kept { traceDrops(CollectionOfOne(kept), because: "its observer ends") }
            state.route.mailbox?.withdraw(deliveries.map(\.ticket))
            return [forgone, deliveries, kept, state.leftTo.take()]
        }
    }
}
