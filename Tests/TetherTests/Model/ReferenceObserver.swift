/// The model of an observer: its target, its pending deliveries and its muting.
///
/// A reference to it stands for one to its handler. Deliveries of one observer are numbered, and a
/// job has the number of one. It does nothing if that is no longer pending.
final class ReferenceObserver: Counted {
    /// `nil` for one whose deliveries a sequence takes.
    private let id: Int?
    let center: ReferenceCenter
    let name: Int?
    /// `.nobody` for any.
    let sender: ReferenceSender
    let owner: ReferenceObject?
    let isOnce: Bool
    let key: Int?
    private unowned let world: ReferenceWorld

    private(set) var hasEnded = false
    /// `nil` for the posting thread.
    private(set) var target: ReferenceScheduler? {
        didSet {
            oldValue?.waiting -= pending.count
            target?.waiting += pending.count
        }
    }
    /// Whether it is to be the posting thread when nothing is pending and no handler runs.
    private var isLeavingTarget = false
    private(set) var pending: [Delivery] = [] {
        didSet { target?.waiting += pending.count - oldValue.count }
    }
    private var lastNumber = 0
    /// The first number since the target was set.
    private var firstNumber = 1
    /// The numbers whose own jobs may come behind later jobs, which deliver them first (D4, D6).
    private var late: Set<Int> = []
    /// Whether a job calls its handler, and the numbers of jobs that came meanwhile.
    private var isRunning = false
    private var isRunningElsewhere = false
    private var skipped: [Int] = []
    /// With batching: whether a job waits.
    private var hasJob = false
    private var isClaimed = false
    private(set) var dropped = 0
    private(set) var backlog = ModelOperation.Backlog.unbounded
    private var ownMutings = 0
    private(set) var ownerMutings = 0
    private var keepsNewest = false
    /// The newest notification that was posted while it was muted.
    private(set) var kept: ReferenceNotification?
    /// Its place among all notifications that were kept.
    private(set) var placeOfKept = 0
    /// Whether its sender has been deallocated.
    private var isLast = false
    private var isFinishing = false
    /// What takes its deliveries in a handler's place.
    weak var sequence: ReferenceSequence?
    /// What a foreign center has of it.
    var closure: ReferenceForeign.Closure?

    struct Delivery {
        let number: Int
        let notification: ReferenceNotification
    }

    init(
        _ observation: Observation, id: Int?, in center: ReferenceCenter, sender: ReferenceSender,
        owner: ReferenceObject?, target: ReferenceScheduler? = nil, world: ReferenceWorld
    ) {
        self.id = id
        self.center = center
        self.sender = sender
        self.owner = owner
        self.target = target
        self.world = world
        name = observation.name
        isOnce = observation.once
        key = observation.key
        if id != nil { world.player.captureMade() }
    }

    /// The captures of the handler are released.
    override func deallocated() { if let id { world.player.released(id) } }

    /// Whether a post reaches it (M1, M2).
    func matches(_ notification: ReferenceNotification) -> Bool {
        (name == nil || name == notification.name)
            && (sender == .nobody || sender == notification.sender)
    }

    // MARK: Beginning and ending

    /// Adds it to its center, unless its sender or its owner is being deinitialised (M5, O8).
    func register() {
        guard sender.object?.isEnding != true, owner?.isEnding != true else {
            hasEnded = true
            sequence?.finish(keepingElements: true)
            return release()
        }
        sender.object?.observers.append(self)
        owner?.attached.append(self)
        center.add(self)
    }

    /// Ends it (R1, R8). A sequence keeps its elements if its sender or its center has been
    /// deallocated (S2).
    func end(keepingElements: Bool = false) {
        guard !hasEnded else { return }
        hasEnded = true
        let notifications = pending.map(\.notification) + [kept].compactMap(\.self)
        (pending, kept, isLeavingTarget) = ([], nil, false)
        owner?.attached.removeAll { $0 === self }
        sender.object?.observers.removeAll { $0 === self }
        sequence?.finish(keepingElements: keepingElements && owner?.isEnding != true)
        center.remove(self)
        for notification in notifications { notification.release() }
    }

    /// M5: it ends when nothing is pending for it.
    func senderEnded() {
        isLast = true
        settle()
    }

    /// R11: it takes no further post, and ends when nothing is pending for it.
    func finish() {
        guard !hasEnded else { return }
        isFinishing = true
        isLast = true
        settle()
    }

    // MARK: Receiving

    /// Takes a post. True if the posting thread is to call the handler, behind the jobs of the post
    /// (M3, D1, D3).
    func receive(
        _ posted: ReferenceNotification, in jobs: inout ReferenceJobs, mayCall: Bool = false
    ) -> Bool {
        guard !hasEnded, !isClaimed, !isFinishing else { return false }
        let isCalledHere = isCalledHere && (mayCall || target?.holdsUpPosts != true)
        if isCalledHere, !mayCall { return true }
        if isMuted {
            keep(posted, &jobs)
            return false
        }
        isClaimed = isOnce
        if !isCalledHere { append(posted.retainedForLater(), &jobs) }
        return isCalledHere
    }

    private var isCalledHere: Bool {
        !isRunningElsewhere && (target.map { $0.isCurrent && pending.isEmpty } ?? true)
    }

    /// Adds a delivery, and its number to the job of its target (D2, D7, D8).
    private func append(_ notification: ReferenceNotification, _ jobs: inout ReferenceJobs) {
        lastNumber += 1
        pending.append(Delivery(number: lastNumber, notification: notification))
        trim(&jobs)
        guard let target, pending.last?.number == lastNumber, !target.isBatching || !hasJob else {
            return
        }
        hasJob = true
        jobs.add(self, lastNumber, on: target)
    }

    /// Calls the handler. R7: a once observer is used up by it.
    func handle(_ notification: ReferenceNotification) {
        if hasEnded { return }
        if let owner {
            // O4: it is called only while its owner is retained for it.
            if !owner.isEnding { owner.retained { callHandler(notification) } }
        } else {
            callHandler(notification)
        }
        if isOnce { end() }
    }

    private func callHandler(_ notification: ReferenceNotification) {
        guard let id else { return sequence?.offer(notification) ?? () }
        world.player.called(
            id, number: notification.payload.number, sender: notification.sender.posted,
            hasOwner: owner != nil)
    }

    // MARK: Delivering

    /// A job has come. While the handler runs, that call goes on with the job when it returns (D4).
    func deliver(_ number: Int) {
        if isRunning { return skipped.append(number) }
        let began = firstNumber
        retain()
        let last = last(for: number)
        while firstNumber == began, let notification = remove(number, upTo: last, orMoved: true) {
            isRunning = true
            handle(notification)
            (isRunning, isRunningElsewhere) = (false, false)
            notification.release()
        }
        if firstNumber == began {
            while !skipped.isEmpty { deliver(skipped.removeFirst()) }
        } else {
            // Switched meanwhile: they have come to the target as it is now, and run there.
            late.formUnion(skipped)
            for number in skipped where !hasEnded { inOwnJob { $0.add(self, number, on: target) } }
            skipped = []
        }
        settle()
        release()
    }

    /// The last number of a job: with batching, of all deliveries that are pending now (D7).
    private func last(for number: Int) -> Int {
        guard number >= firstNumber else { return 0 }
        guard target?.isBatching == true else { return number }
        hasJob = false
        return lastNumber
    }

    /// The delivery of a job's number, or with batching the oldest of the job. Those that were
    /// moved to the target, whose jobs may come late, are delivered before.
    private func remove(_ number: Int, upTo last: Int, orMoved: Bool = false)
        -> ReferenceNotification?
    {
        guard number <= last else { return nil }
        let lateIndex = pending.firstIndex { $0.number < number && late.contains($0.number) }
        let ownIndex = pending.firstIndex { (number...last).contains($0.number) }
        guard let index = orMoved ? lateIndex ?? ownIndex : ownIndex else { return nil }
        return pending.remove(at: index).notification
    }

    /// Has later jobs make a delivery first.
    func markLate(_ number: Int) { late.insert(number) }

    /// D2: a job that will not run drops its deliveries, counted; that uses a once observer up
    /// (R7).
    func drop(_ number: Int) {
        let last = last(for: number)
        var notifications: [ReferenceNotification] = []
        while let notification = remove(number, upTo: last) { notifications.append(notification) }
        guard !notifications.isEmpty else { return }
        dropped += notifications.count
        retained { if isOnce { end() } else { settle() } }
        for notification in notifications { notification.release() }
    }

    /// What waits for nothing to be pending and no handler to run: a switch to the posting thread,
    /// the end with the sender.
    private func settle() {
        guard !hasEnded, pending.isEmpty, !isRunning else { return }
        if isLeavingTarget { (target, isLeavingTarget) = (nil, false) }
        if isLast, kept == nil { end(keepingElements: true) }
    }

    // MARK: Switching (D6)

    /// The target as it was set last.
    var shownTarget: ReferenceScheduler? { isLeavingTarget ? nil : target }

    func redirect(to new: ReferenceScheduler?) {
        guard !hasEnded else { return }
        isLeavingTarget = new == nil && target != nil
        settle()
        guard let new, new !== target else { return }
        target = new
        // The deliveries get new numbers, and a job each. The old jobs find nothing.
        let moved = pending.map(\.notification)
        (pending, skipped, hasJob, firstNumber) = ([], [], false, lastNumber + 1)
        isRunningElsewhere = isRunning
        for notification in moved {
            markLate(lastNumber + 1)
            inOwnJob { append(notification, &$0) }
        }
    }

    private func inOwnJob(_ body: (inout ReferenceJobs) -> Void) {
        var jobs = ReferenceJobs()
        body(&jobs)
        jobs.submit()
    }

    // MARK: Muting and backlogs (D8, D9)

    var mutings: Int { ownMutings + ownerMutings }
    var isMuted: Bool { mutings > 0 }

    private func keep(_ posted: ReferenceNotification, _ jobs: inout ReferenceJobs) {
        if !keepsNewest || kept != nil { dropped += 1 }
        guard keepsNewest else { return }
        jobs.release(kept)
        kept = posted.retainedForLater()
        world.kept += 1
        placeOfKept = world.kept
    }

    func mute(byOwner: Bool = false, keepingNewest: Bool) {
        guard !hasEnded else { return }
        if byOwner { ownerMutings += 1 } else { ownMutings += 1 }
        if keepingNewest { keepsNewest = true }
    }

    /// Ends one muting of each observer. Kept notifications are then delivered as if they were
    /// posted now, by one post.
    static func unmute(_ observers: [ReferenceObserver], byOwner: Bool = false) {
        var (jobs, calls) = (
            ReferenceJobs(), [(observer: ReferenceObserver, kept: ReferenceNotification)]()
        )
        for observer in observers where !observer.hasEnded {
            guard let kept = observer.unmute(byOwner: byOwner) else { continue }
            if observer.isClaimed {
                jobs.release(kept)
            } else {
                observer.isClaimed = observer.isOnce
                // No post of its own is under way.
                unsafe ReferenceDepth.current += 1
                let isHeldUp = observer.target?.holdsUpPosts == true
                unsafe ReferenceDepth.current -= 1
                if observer.isCalledHere, !isHeldUp {
                    calls.append((observer, kept))
                } else {
                    observer.append(kept, &jobs)
                }
            }
        }
        jobs.submit()
        for (observer, _) in calls { observer.retain() }
        for (observer, kept) in calls { observer.handle(kept) }
        for (observer, kept) in calls {
            kept.release()
            observer.release()
        }
        for observer in observers { observer.settle() }
    }

    /// Returns what was kept, at the last unmuting.
    private func unmute(byOwner: Bool) -> ReferenceNotification? {
        if byOwner { ownerMutings -= 1 } else { ownMutings -= 1 }
        if isMuted { return nil }
        keepsNewest = false
        return kept.take()
    }

    func bound(to backlog: ModelOperation.Backlog) {
        guard !hasEnded else { return }
        self.backlog = backlog
        inOwnJob { trim(&$0) }
    }

    /// Drops the oldest, or the newest, of more than may wait.
    private func trim(_ jobs: inout ReferenceJobs) {
        let excess = backlog.trim(&pending)
        dropped += excess.count
        for delivery in excess { jobs.release(delivery.notification) }
    }
}

extension ModelOperation.Backlog {
    /// Removes the elements that are more than may wait.
    func trim<Element>(_ waiting: inout [Element]) -> [Element] {
        let (limit, keepsOldest) =
            switch self {
            case .unbounded: (waiting.count, false)
            case .newest(let limit): (limit, false)
            case .oldest(let limit): (limit, true)
            }
        let excess = max(0, waiting.count - limit)
        defer { if keepsOldest { waiting.removeLast(excess) } else { waiting.removeFirst(excess) } }
        return Array(keepsOldest ? waiting.suffix(excess) : waiting.prefix(excess))
    }
}
