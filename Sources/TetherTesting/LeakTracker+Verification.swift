internal import Dispatch
internal import Foundation
internal import Tether

extension LeakTracker {
    /// How long to wait for what.
    package struct Limits: Sendable {
        /// For deliveries that are pending and handlers that are running.
        let deliveries: Duration
        /// For what nothing is known to be on its way to release: a thread or task of the test's own may be about to.
        let release: Duration
        /// For the search why what is left is still there.
        package let explanation: Duration

        package init(deliveries: Duration, release: Duration, explanation: Duration) {
            self.deliveries = deliveries
            self.release = min(deliveries, release)
            self.explanation = explanation
        }
    }

    // MARK: Verifying

    /// All that the scope leaves behind, when deliveries have been made and what goes by itself has gone.
    package func verify(_ limits: Limits) async -> [Finding] {
        let deadline = DispatchTime.after(limits.deliveries)
        var unfinished: [Finding] = []
        defer { endWaits() }
        while let (waitGroup, describe) = deliveries() {
            await waitGroup.wait(until: deadline)
            if !waitGroup.isEmpty || DispatchTime.now() >= deadline {
                unfinished = describe()
                break
            }
        }
        if let waitGroup = releases(), unfinished.isEmpty { await waitGroup.wait(until: .after(limits.release)) }
        return findings(unfinished, limits)
    }

    /// As `verify`, waiting on this thread.
    @available(*, noasync)
    package func verifyBlocking(_ limits: Limits) -> [Finding] {
        let runsLoop = Thread.isMainThread || hasRunLoopTargets
        let deadline = DispatchTime.after(limits.deliveries)
        var unfinished: [Finding] = []
        defer { endWaits() }
        while let (waitGroup, describe) = deliveries() {
            waitGroup.wait(until: deadline, runningLoop: runsLoop)
            if !waitGroup.isEmpty || DispatchTime.now() >= deadline {
                unfinished = describe()
                break
            }
        }
        if let waitGroup = releases(), unfinished.isEmpty {
            waitGroup.wait(until: .after(limits.release), runningLoop: runsLoop)
        }
        return findings(unfinished, limits)
    }

    private var hasRunLoopTargets: Bool {
        state.withLock(\.registrations).contains(where: \.usesRunLoop)
    }

    // MARK: Waiting for deliveries

    /// The wait before anything can be said: for deliveries that are pending, and handlers that are running.
    private func deliveries() -> (WaitGroup, describe: @Sendable () -> [Finding])? {
        let waitGroup = WaitGroup()
        let registrations = state.withLock(\.registrations)
        let running = Guarded<Set<WatchedRegistration.ID>>([])
        // What is delivered, though its handler was not running yet.
        let delivering = Guarded<Set<WatchedRegistration.ID>>([])
        for registration in registrations {
            let delivered = waitGroup.add()
            delivering.withLock { _ = $0.insert(registration.id) }
            let signal = AtRelease {
                delivering.withLock { _ = $0.remove(registration.id) }
                delivered()
            }
            // Without a delivery to wait for the signal goes at once.
            if let cancel = registration.retainUntilIdle(signal) {
                state.withLock { $0.waits[registration.id] = cancel }
                // It may have ended meanwhile.
                if !registration.isActive { endWait(registration.id) }
            }
            let returned = waitGroup.add()
            running.withLock { _ = $0.insert(registration.id) }
            registration.whenQuiescent {
                running.withLock { _ = $0.remove(registration.id) }
                returned()
            }
        }
        if waitGroup.isEmpty { return nil }
        return (
            waitGroup,
            {
                let (running, delivering) = (running.withLock(\.self), delivering.withLock(\.self))
                return registrations.compactMap { registration in
                    let isDelivered = delivering.contains(registration.id) && registration.isRunning
                    return registration.unfinished(isRunning: running.contains(registration.id) || isDelivered)
                }
            }
        )
    }

    /// Ends the wait for what is pending for a registration that has ended, on a target that may never deliver anything.
    private func endWait(_ id: WatchedRegistration.ID) {
        let end = state.withLock { $0.waits.removeValue(forKey: id) }
        end?()
    }

    /// Ends all of them, so that nothing is left on a target that has not come to it within the limit.
    private func endWaits() {
        let ends = state.withLock { state in
            defer { state.waits = [:] }
            return state.waits.values.map(\.self)
        }
        for end in ends { end() }
    }

    // MARK: Waiting for releases

    /// The end of everything that is still there.
    private func releases() -> WaitGroup? {
        let waitGroup = WaitGroup()
        for tracked in leftObjects() { tracked.object.whenEnded(waitGroup.add()) }
        for registration in leftRegistrations() {
            let ended = waitGroup.add()
            state.withLock { $0.ended[registration.id] = ended }
            // It may have ended meanwhile.
            if !registration.isActive { registrationEnded(registration.id) }
        }
        return waitGroup.isEmpty ? nil : waitGroup
    }

    func registrationEnded(_ id: WatchedRegistration.ID) {
        endWait(id)
        let ended = state.withLock { $0.ended.removeValue(forKey: id) }
        ended?()
    }

    // MARK: What is left

    /// The tracked objects and owners that are alive, each once, without those that are kept on purpose.
    private func leftObjects() -> [Tracked] {
        let (tracked, kept) = state.withLock { ($0.tracked, $0.kept) }
        var seen = addresses(of: kept)
        // A tracked object is told of as such, though it may be an owner too.
        return (tracked.filter { !$0.isOwner } + tracked.filter(\.isOwner)).filter { tracked in
            !tracked.object.hasEnded && seen.insert(tracked.object.address).inserted
        }
    }

    private func addresses(of objects: [WatchedObject]) -> Set<UInt> {
        Set(objects.lazy.filter { !$0.hasEnded }.map(\.address))
    }

    /// The observers that are active and that no owner accounts for.
    private func leftRegistrations() -> [WatchedRegistration] {
        state.withLock(\.registrations).filter { $0.isActive && !$0.isAttached }
    }

    private func findings(_ unfinished: [Finding], _ limits: Limits) -> [Finding] {
        let diagnosis = Diagnosis(
            registrations: state.withLock(\.registrations).filter(\.isActive), objects: leftObjects(),
            limit: limits.explanation)
        // An owner that is still there is told of as such.
        let hidden = state.withLock(\.keptUntilCenterEnded).filter { $0.owner.hasEnded }.map(\.finding)
        return diagnosis.findings(observers: leftRegistrations()) + hidden + unfinished
    }

    /// Looks for owners that go only because a center does, which has these registrations of the scope.
    func ownersKept(by registrations: [WatchedRegistration]) -> [KeptOwner] {
        let (objects, kept, limit) = state.withLock { ($0.objects, $0.kept, $0.timeForCenters) }
        let begin = ContinuousClock.now
        let search = CenterEndSearch(registrations, owners: objects, keptOnPurpose: addresses(of: kept), limit: limit)
        let owners = search.keptOwners()
        state.withLock { $0.timeForCenters = max(.zero, $0.timeForCenters - (ContinuousClock.now - begin)) }
        return owners
    }

    /// Takes those for kept that went with their center; and those that their handler captures, though something else keeps
    /// them a moment longer. To others a property may have led, which the test may be about to set.
    ///
    /// `gone` are owners that went with their handlers, of other scopes, too.
    func centerHasEnded(_ owners: [KeptOwner], gone: [KeptOwner]) {
        let known = Set(owners.map(\.owner.address))
        let kept = owners.filter { $0.isCaptured || $0.owner.hasEnded }
        state.withLock { state in
            let unseen = gone.filter {
                !known.contains($0.owner.address) && state.objects[$0.owner.address] === $0.owner
            }
            state.keptUntilCenterEnded += kept + unseen
        }
    }

    /// The owner of a registration, if it is alive, and not meant to stay.
    func livingOwner(of registration: WatchedRegistration) -> WatchedObject? {
        let (owner, kept) = state.withLock { state in
            (registration.owner.flatMap { state.objects[$0] }, state.kept)
        }
        guard let owner, !owner.hasEnded, !addresses(of: kept).contains(owner.address) else { return nil }
        return owner
    }

    /// Observers on the centers of this scope that belong to nobody.
    package func unattributed() -> [Finding] {
        let centers = state.withLock(\.centers)
        return Registrations.newUnattributed(on: centers).map { registration in
            Finding(
                message: "\(registration.description) belongs to no test that can be told: it was made on a queue or "
                    + "thread without a scope. Hand the work over with the scope's adopt { }.",
                site: registration.site, picture: LeakPicture(handlerOf: registration).diagram)
        }
    }
}

extension WatchedRegistration {
    var site: Site { Site(file: file, line: line) }

    /// "the observer of modelDidChange registered at …"
    var description: String {
        isSequence ? "the sequence of \(subject) made at \(site)" : "the observer of \(subject) registered at \(site)"
    }

    /// "the handler registered at … (modelDidChange)"
    var handlerDescription: String { "the handler registered at \(site) (\(subject))" }

    /// The finding about deliveries or handlers that have not come to an end within the limit.
    fileprivate func unfinished(isRunning: Bool) -> Finding? {
        let pending = pending
        var picture = LeakPicture(handlerOf: self)
        if pending.count > 0 {
            let deliveries = pending.count == 1 ? "1 delivery" : "\(pending.count) deliveries"
            picture.hold([pending.target], deliveries, .cylinder, .violet)
            let remedy =
                waitsForCaller
                ? ", which this very call blocks, because it was made there; write 'await' before it, in an async test"
                : "; run what that target runs on, or stop the observer, before the test ends"
            return Finding(
                message: "still waiting for \(deliveries) pending on \(pending.target) for \(handlerDescription)"
                    + remedy,
                site: site, picture: picture.diagram)
        }
        guard isRunning else { return nil }
        picture.hold(["another thread"], "running on", .cylinder, .violet)
        return Finding(
            message: "still waiting for \(handlerDescription) to return; it is running on another thread", site: site,
            picture: picture.diagram)
    }
}

extension DispatchTime {
    /// The time that is some while from now; a century, where that would be beyond what it can tell.
    static func after(_ duration: Duration) -> DispatchTime {
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(3_000_000_000)).components
        return .now() + .nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}
