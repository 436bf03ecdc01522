internal import Dispatch
internal import Foundation
internal import Tether

extension LeakTracker {
    /// The longest times that a leak check may take for its waits and its search.
    ///
    /// ```swift
    /// let leaks = findLeaks(limits: .init(deliveryWait: .seconds(30))) {
    ///     openAndCloseADocument()
    /// }
    /// ```
    public struct Limits: Sendable {
        /// The longest wait, after the body, for pending deliveries and running handlers; ten
        /// seconds by default. A delivery then pending, or a handler then running, is a leak.
        public let deliveryWait: Duration
        /// The longest wait for threads or tasks to release the things left behind, if there are
        /// any; two seconds by default, and at most `deliveryWait`. Each object or observer that
        /// then remains is a leak.
        public let releaseWait: Duration
        /// The longest search for the holders of all things left behind; two seconds by default. A
        /// leak whose holder was not found in time says so. All searches at the ends of centers,
        /// together, have the same time again.
        public let holderSearch: Duration

        /// Makes limits, each the default unless given. `.zero` stands for no wait, or no search. A
        /// `releaseWait` longer than `deliveryWait` is shortened to that.
        public init(
            deliveryWait: Duration = .seconds(10), releaseWait: Duration = .seconds(2),
            holderSearch: Duration = .seconds(2)
        ) {
            self.deliveryWait = deliveryWait
            self.releaseWait = min(deliveryWait, releaseWait)
            self.holderSearch = holderSearch
        }
    }

    package struct Verdict: Sendable {
        package let findings: [Finding]
        /// A finding for each observer without a scope on the centers of the scope; a warning.
        package let unattributed: [Finding]

        fileprivate init(_ findings: [Finding], _ scope: LeakTracker, warns: Bool) {
            self.findings = findings
            unattributed = warns ? scope.unattributed() : []
        }
    }

    // MARK: Verifying

    /// Runs a body in a new scope, verifies the scope, and closes it. A body that throws is not
    /// verified.
    @available(*, noasync)
    package static func run<Result>(
        _ limits: Limits, warns: Bool = true, _ body: () throws -> Result
    ) rethrows -> (Result, Verdict) {
        let scope = LeakTracker(holderSearch: limits.holderSearch)
        defer { scope.close() }
        let result = try $scope.withValue(Scope(scope), operation: body)
        return (result, Verdict(scope.verifyBlocking(limits), scope, warns: warns))
    }

    package static func run<Result>(
        _ limits: Limits, warns: Bool = true, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async rethrows -> (Result, Verdict) {
        let scope = LeakTracker(holderSearch: limits.holderSearch)
        defer { scope.close() }
        let result = try await $scope.withValue(Scope(scope), operation: body)
        return (result, Verdict(await scope.verify(limits), scope, warns: warns))
    }

    /// Waits for deliveries and releases, and returns a finding for everything left behind.
    package func verify(_ limits: Limits) async -> [Finding] {
        let deadline = DispatchTime.after(limits.deliveryWait)
        var isLate = false
        defer { endWaits() }
        while !isLate, let waitGroup = makeDeliveryWait() {
            await waitGroup.wait(until: deadline)
            isLate = DispatchTime.now() >= deadline
        }
        let unfinished = isLate ? unfinished(blocksTask: false) : []
        if unfinished.isEmpty, let waitGroup = makeReleaseWait() {
            await waitGroup.wait(until: .after(limits.releaseWait))
        }
        return findings(unfinished, limits)
    }

    @available(*, noasync)
    package func verifyBlocking(_ limits: Limits) -> [Finding] {
        let runsLoop =
            Thread.isMainThread || state.withLock(\.registrations).contains(where: \.usesRunLoop)
        let deadline = DispatchTime.after(limits.deliveryWait)
        var isLate = false
        defer { endWaits() }
        while !isLate, let waitGroup = makeDeliveryWait() {
            waitGroup.wait(until: deadline, runningLoop: runsLoop)
            isLate = DispatchTime.now() >= deadline
        }
        let blocksTask = WatchedRegistration.isCallerInTask && !Thread.isMainThread
        let unfinished = isLate ? unfinished(blocksTask: blocksTask) : []
        if unfinished.isEmpty, let waitGroup = makeReleaseWait() {
            waitGroup.wait(until: .after(limits.releaseWait), runningLoop: runsLoop)
        }
        return findings(unfinished, limits)
    }

    // MARK: Waiting for deliveries

    /// The wait for pending deliveries and running handlers; `nil` if there are none.
    private func makeDeliveryWait() -> WaitGroup? {
        let waitGroup = WaitGroup()
        for registration in awaitedRegistrations() {
            // Without a pending delivery nothing retains `signal`, and its release ends the wait at
            // once.
            let signal = AtRelease(waitGroup.add())
            if let cancel = registration.retainUntilIdle(signal) {
                let old = state.withLock { $0.waits.updateValue(cancel, forKey: registration.id) }
                // Released without the lock: it retains the pending deliveries.
                withExtendedLifetime(old) {}
                // The registration may have ended meanwhile.
                if !registration.isActive { endWait(registration.id) }
            }
            registration.whenQuiescent(waitGroup.add())
        }
        return waitGroup.isEmpty ? nil : waitGroup
    }

    /// The findings about what is not finished. `blocksTask` says whether the wait blocked a thread
    /// of Swift's tasks.
    private func unfinished(blocksTask: Bool) -> [Finding] {
        awaitedRegistrations().compactMap { $0.unfinished(blocksTask: blocksTask) }
    }

    /// The registrations without the tasks and loops of objects kept on purpose, which may go on,
    /// and without the loops that capture their owners. A loop of the last kind is given the time
    /// of any other object to end.
    private func awaitedRegistrations() -> [WatchedRegistration] {
        let (registrations, keptObjects) = state.withLock { ($0.registrations, $0.kept) }
        // Without the lock: a watched object has a lock of its own.
        let kept = addresses(of: keptObjects)
        return registrations.filter { registration in
            guard registration.work != nil, let owner = registration.owner else { return true }
            return !kept.contains(owner) && !SelfCapture.isOfLoop(registration)
        }
    }

    /// Ends the wait for the deliveries of an ended registration, because the target may never run
    /// them.
    private func endWait(_ id: WatchedRegistration.ID) {
        let end = state.withLock { $0.waits.removeValue(forKey: id) }
        end?()
    }

    /// Ends every wait for deliveries, so that no target keeps a signal after the limit.
    private func endWaits() {
        let ends = state.withLock { state in
            defer { state.waits = [:] }
            return state.waits.values.map(\.self)
        }
        for end in ends { end() }
    }

    // MARK: Waiting for releases

    /// The wait for the end of each remaining object and observer; `nil` if nothing is left.
    private func makeReleaseWait() -> WaitGroup? {
        let waitGroup = WaitGroup()
        for tracked in leftObjects() { tracked.object.whenEnded(waitGroup.add()) }
        for registration in leftRegistrations() {
            let ended = waitGroup.add()
            state.withLock { $0.ended[registration.id] = ended }
            // The registration may have ended meanwhile.
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

    /// The tracked objects and owners still alive, each once, without the objects kept on purpose.
    private func leftObjects() -> [Tracked] {
        let (tracked, kept) = state.withLock { ($0.tracked, $0.kept) }
        var seen = addresses(of: kept)
        // A tracked object that is also an owner is reported as a tracked object.
        return (tracked.filter { !$0.isOwner } + tracked.filter(\.isOwner)).filter { tracked in
            !tracked.object.hasEnded && seen.insert(tracked.object.address).inserted
        }
    }

    private func addresses(of objects: [WatchedObject]) -> Set<UInt> {
        Set(objects.lazy.filter { !$0.hasEnded }.map(\.address))
    }

    private func leftRegistrations() -> [WatchedRegistration] {
        state.withLock(\.registrations).filter { $0.isActive && $0.owner == nil }
    }

    private func findings(_ unfinished: [Finding], _ limits: Limits) -> [Finding] {
        let diagnosis = Diagnosis(
            registrations: state.withLock(\.registrations), objects: leftObjects(),
            limit: limits.holderSearch)
        // The diagnosis reports the owners still alive.
        let hidden = state.withLock(\.keptUntilCenterEnded).filter { $0.owner.hasEnded }.map(
            \.finding)
        let tokens = state.withLock(\.keptTokens)
        return diagnosis.findings(observers: leftRegistrations()) + hidden.counted()
            + tokens.counted() + unfinished.counted()
    }

    /// Finds the owners and the tokens kept alive by a center that is ending and has these
    /// registrations of the scope.
    func kept(by registrations: [WatchedRegistration]) -> ([KeptOwner], [KeptToken]) {
        let (objects, kept, limit) = state.withLock { ($0.objects, $0.kept, $0.timeForCenters) }
        let begin = ContinuousClock.now
        let owners = KeptOwner.search(
            registrations, owners: objects, keptOnPurpose: addresses(of: kept), limit: limit)
        let tokens = KeptToken.search(registrations, limit: limit - (ContinuousClock.now - begin))
        state.withLock {
            $0.timeForCenters = max(.zero, $0.timeForCenters - (ContinuousClock.now - begin))
        }
        return (owners, tokens)
    }

    /// Records the leaks among the owners and tokens found by the search: see
    /// CenterEndSearch.swift. `gone` lists the owners that ended with their handlers, including owners of other scopes.
    func centerHasEnded(_ owners: [KeptOwner], gone: [KeptOwner], _ tokens: [KeptToken]) {
        let known = Set(owners.map(\.owner.address))
        let kept = owners.filter { $0.isCaptured || $0.owner.hasEnded }
        let endedTokens = tokens.filter(\.hasEnded)
        state.withLock { state in
            let unseen = gone.filter {
                !known.contains($0.owner.address) && state.objects[$0.owner.address] === $0.owner
            }
            state.keptUntilCenterEnded += kept + unseen
            state.keptTokens += endedTokens.map(\.finding)
        }
    }

    func livingOwner(of registration: WatchedRegistration) -> WatchedObject? {
        let (owner, kept) = state.withLock { state in
            (registration.owner.flatMap { state.objects[$0] }, state.kept)
        }
        guard let owner, !owner.hasEnded, !addresses(of: kept).contains(owner.address) else {
            return nil
        }
        return owner
    }

    package func unattributed() -> [Finding] {
        let centers = state.withLock(\.centers)
        return Registrations.newUnattributed(on: centers).map { registration in
            Finding(
                message:
                    "\(registration.description) cannot be attributed to a test: it was registered on "
                    + "a queue or thread without a scope. Run that work in the scope's `adopt { }`.",
                site: registration.site, picture: LeakPicture(handlerOf: registration).diagram)
        }
    }
}

extension WatchedRegistration {
    var site: Site { Site(file: file, line: line) }

    /// "the observer of modelDidChange registered at …"
    var description: String {
        isSequence
            ? "the sequence of \(subject) made at \(site)"
            : "the observer of \(subject) registered at \(site)"
    }

    /// "the observer registered at …", or "the task started at …"
    var ownedDescription: String {
        work == nil ? "the observer registered at \(site)" : handlerDescription
    }

    /// "the handler registered at … (modelDidChange)", or "the task started at …"
    var handlerDescription: String {
        switch work {
        case nil: "the handler registered at \(site) (\(subject))"
        case .task: "the task started at \(site)"
        case .loop: "the loop started at \(site)"
        case .closure: "the closure of whenEnded at \(site)"
        }
    }

    /// The finding about deliveries or handlers not finished within the limit; `nil` if all are
    /// finished.
    fileprivate func unfinished(blocksTask: Bool) -> Finding? {
        let pending = pending
        var picture = LeakPicture(handlerOf: self)
        if pending.count > 0 {
            let deliveries = pending.count == 1 ? "1 delivery" : "\(pending.count) deliveries"
            picture.hold([pending.target], deliveries, .cylinder, .violet)
            return Finding(
                message:
                    "still waiting for \(deliveries) pending on \(pending.target) for \(handlerDescription). "
                    + remedyForPending(blocksTask: blocksTask),
                site: site, picture: picture.diagram)
        }
        guard isRunning else { return nil }
        if work != nil { return stillRunning() }
        picture.hold(["another thread"], "running on", .cylinder, .violet)
        return Finding(
            message:
                "still waiting for \(handlerDescription) to return; it is running on another thread, or suspended",
            site: site, picture: picture.diagram)
    }
}

extension WatchedRegistration {
    private func remedyForPending(blocksTask: Bool) -> String {
        let remedy = "Write 'await' before the call, in an async test."
        if waitsForCaller { return "This call blocks the target. \(remedy)" }
        // There are only as many threads for tasks as processors, and a task without `await` keeps
        // its thread.
        if blocksTask, runsTasks {
            return "This call blocks a thread that the task may need. \(remedy)"
        }
        return "Let that target run, or cancel() the observer, before the test ends."
    }

    /// The finding about a task or a loop that was cancelled and goes on. `nil` if it was not
    /// cancelled: then its owner is alive, and has a finding of its own.
    fileprivate func stillRunning() -> Finding? {
        if isActive { return nil }
        let cause = hasOwnerEnded ? " when \(ownerType ?? "its owner") ended" : ""
        var picture = LeakPicture(handlerOf: self)
        picture.hold(["cancelled, and still running"], "", .cylinder, .violet)
        return Finding(
            message:
                "\(handlerDescription) was cancelled\(cause), and still runs. Ask Task.isCancelled in it, and end "
                + "whatever it waits for.",
            site: site, picture: picture.diagram)
    }

    var kindOfWork: String {
        switch work {
        case nil: "handler"
        case .task: "task"
        case .loop: "loop"
        case .closure: "closure"
        }
    }

    /// What keeps a capture out of the registered code.
    var remedy: String {
        switch work {
        case nil, .loop: SelfCapture.remedy
        case .task: "Capture it weakly there, and take it for one step at a time."
        case .closure: "Capture what the closure needs, and not its owner."
        }
    }
}

extension DispatchTime {
    /// The time after a duration from now. The duration is limited to a century to avoid an
    /// overflow.
    static func after(_ duration: Duration) -> DispatchTime {
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(3_000_000_000)).components
        return .now() + .nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}
