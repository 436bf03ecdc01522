// What is let through: muting (D9) and backlogs (D8); and the target switch (D6).

extension ReferenceObserver {
    var isMuted: Bool { ownMutings + ownerMutings > 0 }
    var mutings: Int { ownMutings + ownerMutings }

    /// Returns what is displaced.
    func keepOrDrop(_ posted: ReferenceNotification) -> ReferenceDelivery? {
        let displaced = kept
        if !keepsNewest || displaced != nil { dropped += 1 }
        guard keepsNewest else { return nil }
        kept = ReferenceDelivery(posted, world)
        return displaced
    }

    func mute(keepingNewest: Bool) {
        guard !hasEnded else { return }
        ownMutings += 1
        if keepingNewest { keepsNewest = true }
    }

    func muteWithOwner(keepingNewest: Bool) {
        ownerMutings += 1
        if keepingNewest { keepsNewest = true }
    }

    func unmute() {
        guard !hasEnded else { return }
        ownMutings -= 1
        var release = unmuted()
        release.schedule()
        release.run()
        release.letGo()
    }

    func unmuteWithOwner() -> Release {
        guard !hasEnded else { return Release(observer: self) }
        ownerMutings -= 1
        return unmuted()
    }

    /// The delivery, still to be made, of what was kept.
    struct Release {
        fileprivate let observer: ReferenceObserver
        fileprivate var delivers = false
        /// The target on which it has made a job.
        fileprivate var job: ReferenceScheduler?
        /// What more than may wait, or what a used up observer kept.
        fileprivate var dropped: [ReferenceDelivery] = []

        /// Hands the job over, unless it is to run here.
        mutating func schedule() {
            guard let job, !job.isCurrent else { return }
            self.job = nil
            job.schedule()
        }

        func run() {
            if delivers { observer.deliverPending() }
            if let job, job.isCurrent { job.runJob() }
            observer.endIfDone()
        }

        func letGo() {
            job?.letGoOfJob()
            for delivery in dropped { delivery.letGo() }
        }
    }

    /// What was kept takes its turn at the last unmuting, behind what is pending.
    private func unmuted() -> Release {
        guard !isMuted else { return Release(observer: self) }
        keepsNewest = false
        guard let delivery = kept else { return Release(observer: self) }
        kept = nil
        // R7: only now is it used up.
        let isClaimedNow = claim()
        var release = Release(observer: self)
        if isClaimedNow {
            let step = enqueue(delivery)
            release.delivers = step == .deliver
            if step == .schedule { release.job = target }
            if step != .deliver { release.dropped = trim() }
        } else {
            release.dropped = [delivery]
        }
        return release
    }

    func bound(to backlog: ModelOperation.Backlog) {
        guard !hasEnded else { return }
        self.backlog = backlog
        for delivery in trim() { delivery.letGo() }
    }

    /// D8: drops the oldest, or the newest, of more than may wait; the caller lets go of them.
    func trim() -> [ReferenceDelivery] {
        let excess = backlog.trim(&pending)
        dropped += excess.count
        for delivery in excess { target?.withdraw(delivery) }
        return excess
    }

    // MARK: The target switch (D6)

    /// Whether what is pending, and was not when the drain that is running began, moves to another target.
    var takesPendingAlong: Bool { isLeaving && next?.scheduler != nil }

    /// The target as it was set last.
    var shownTarget: ReferenceScheduler? { if let next { next.scheduler } else { target } }

    func redirect(to scheduler: ReferenceScheduler?) {
        guard !hasEnded else { return }
        next = Target(scheduler)
        switchIfFree()
    }

    /// The thread on which it was called has ended: a once observer is used up (R7).
    func threadEnded() {
        isDelivering = false
        leaveRemainderToPosts()
        if switchToPosterWithPending() { deliverPending() }
        if isOnce { end() } else { endIfDone() }
    }

    /// Takes the switch that waited for a drain; true if that leaves the caller to deliver what joined the drain.
    func switchToPosterWithPending() -> Bool {
        guard next != nil else { return false }
        switchIfFree()
        return next == nil && hasRemainder
    }

    /// Switches, unless a drain, or a poster, finishes what is pending where it runs.
    func switchIfFree() {
        guard let new = next else { return }
        if isDelivering || !pending.isEmpty {
            if let target {
                if target.isDraining {
                    if new.scheduler !== target { isLeaving = true }
                    return target.switchAfterDrain(self)
                }
            } else if isDelivering {
                return
            }
        }
        (next, isLeaving) = (nil, false)
        if hasEnded { return }
        // M5: no post of a sender that has gone would come to deliver what is pending on the poster.
        let scheduler = isLast ? new.scheduler ?? target : new.scheduler
        // What a job that was dropped has spared takes its turn anew.
        if scheduler === target, target?.hasAll(of: pending) ?? true { return }
        for delivery in pending { target?.withdraw(delivery) }
        target = scheduler
        var hasMadeJob = false
        for delivery in pending where target?.append(self, delivery) == true { hasMadeJob = true }
        let (excess, target) = (trim(), target)
        if hasMadeJob { target?.schedule() }
        for delivery in excess { delivery.letGo() }
    }
}

extension ModelOperation.Backlog: CustomStringConvertible {
    /// Takes out what is more than may wait.
    func trim<Element>(_ waiting: inout [Element]) -> [Element] {
        switch self {
        case .unbounded: return []
        case .newest(let limit):
            let excess = waiting.prefix(max(0, waiting.count - limit))
            waiting.removeFirst(excess.count)
            return Array(excess)
        case .oldest(let limit):
            let excess = waiting.dropFirst(limit)
            waiting.removeLast(excess.count)
            return Array(excess)
        }
    }

    var description: String {
        switch self {
        case .unbounded: "unbounded"
        case .newest(let limit): "newest \(limit)"
        case .oldest(let limit): "oldest \(limit)"
        }
    }
}
