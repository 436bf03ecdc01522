/// The model of an observer. What holds it holds what its handler captured.
final class ReferenceObserver: Counted {
    let id: Int
    let center: ReferenceCenter
    let name: Int?
    /// `.nobody` for any.
    let sender: ReferenceSender
    let owner: ReferenceObject?
    let isOnce: Bool
    let key: Int?
    unowned let world: ReferenceWorld

    private(set) var hasEnded = false
    var target: ReferenceScheduler?
    var dropped = 0
    var backlog = ModelOperation.Backlog.unbounded
    /// What waits on the target; on the poster, what a switch left there.
    var pending: [ReferenceDelivery] = []
    /// The newest of what was posted while muted.
    var kept: ReferenceDelivery?

    var isClaimed = false
    var ownMutings = 0
    var ownerMutings = 0
    var keepsNewest = false
    /// A drain, or a poster that delivers what waits, is calling the handler.
    var isDelivering = false
    /// The sender has gone.
    var isLast = false
    /// What takes its deliveries in a handler's place.
    weak var sequence: ReferenceSequence?
    /// What a foreign center has of it.
    var closure: ReferenceForeign.Closure?
    /// A switch that waits for who is delivering.
    var next: Target?
    /// Whether it was asked for another target than the one it has, since it waits.
    var isLeaving = false

    enum Target {
        case poster
        case scheduler(ReferenceScheduler)

        init(_ scheduler: ReferenceScheduler?) { self = scheduler.map(Target.scheduler) ?? .poster }

        var scheduler: ReferenceScheduler? { if case .scheduler(let scheduler) = self { scheduler } else { nil } }
    }

    init(
        _ observation: Observation, id: Int, in center: ReferenceCenter, sender: ReferenceSender,
        owner: ReferenceObject?,
        world: ReferenceWorld
    ) {
        self.id = id
        self.sender = sender
        self.owner = owner
        self.world = world
        self.center = center
        name = observation.name
        isOnce = observation.once
        key = observation.key
        target = observation.scheduler.map { world.schedulers[$0] }
        if id >= 0 { world.player.captureMade() }
    }

    /// What the handler captured is released.
    override func ended() { if id >= 0 { world.player.released(id) } }

    /// Whether a post reaches it (M1, M2).
    func matches(_ notification: ReferenceNotification) -> Bool {
        (name == nil || name == notification.name) && (sender == .nobody || sender == notification.sender)
    }

    // MARK: Beginning and ending

    /// Puts it into its center, unless its sender or owner is being deinitialised (M5, O8).
    func register() {
        // Over a foreign center, ends are seen as they happen.
        if center.foreign != nil, sender.object?.isEnding != true {
            sender.object?.see()
            owner?.see()
        }
        guard sender.object?.isEnding != true, owner?.isEnding != true else {
            hasEnded = true
            sequence?.finish(keepingElements: true)
            sender.object?.forgetIfUnused()
            return letGo()
        }
        if let owner {
            owner.attached.append(self)
        }
        sender.object?.watch(for: center)
        center.add(self)
    }

    /// Ends it (R1, R8). What a sequence has of a sender or a center that has gone is still taken (S2).
    func end(keepingElements: Bool = false) {
        guard !hasEnded else { return }
        hasEnded = true
        let unheld = pending + (kept.map { [$0] } ?? [])
        for delivery in pending { target?.withdraw(delivery) }
        pending = []
        kept = nil
        (next, isLeaving) = (nil, false)
        let isReleased = center.remove(self)
        owner?.detach(self)
        sender.object?.unwatch(for: center)
        center.foreign?.disconnect(self)
        sequence?.finish(keepingElements: keepingElements && owner?.isEnding != true)
        if isReleased { letGo() }
        for delivery in unheld { delivery.letGo() }
    }

    /// M5: ends it, whose sender has gone, after what is pending.
    func endAfterPending() {
        isLast = true
        if target == nil, !pending.isEmpty, !isDelivering {
            // No post of that sender will come to deliver it.
            isDelivering = true
            deliverPending()
        } else {
            endIfDone()
        }
    }

    func endIfDone() {
        if isLast, pending.isEmpty, !isDelivering, kept == nil { end(keepingElements: true) }
    }

    // MARK: Receiving

    /// Takes a post, on the poster.
    func receive(_ posted: ReferenceNotification) {
        guard !hasEnded else { return }
        if isMuted {
            // R7: what is dropped while muted does not use it up; what comes after its one delivery is nothing.
            let displaced = isClaimed ? nil : keepOrDrop(posted)
            deliverRemainder()
            displaced?.letGo()
            return
        }
        guard claim() else { return deliverRemainder() }
        if pending.isEmpty, target?.isOpenInline ?? !isDelivering {
            if isOnce { world.levels.begin(.call(self)) }
            call(posted, from: posted.sender)
            if isOnce {
                world.levels.end()
                end()
            }
            return
        }
        let step = enqueue(ReferenceDelivery(posted, world))
        if step == .deliver { return deliverPending() }
        let (excess, target) = (trim(), target)
        if step == .schedule { target?.schedule() }
        for delivery in excess { delivery.letGo() }
    }

    /// R7: claims its one delivery, if it has but one.
    func claim() -> Bool {
        guard isOnce else { return true }
        defer { isClaimed = true }
        return !isClaimed && !hasEnded
    }

    /// What the caller is to do: on the poster to deliver, or else to trim, and to schedule a job if it has made one.
    enum Step { case deliver, schedule, trim }

    /// Puts a delivery behind what is pending.
    func enqueue(_ delivery: ReferenceDelivery) -> Step {
        pending.append(delivery)
        if let target { return target.append(self, delivery) ? .schedule : .trim }
        defer { isDelivering = true }
        return isDelivering ? .trim : .deliver
    }

    /// Whether something waits on the poster, which nobody delivers yet.
    var hasRemainder: Bool { target == nil && !pending.isEmpty && !isDelivering }

    private func deliverRemainder() { if hasRemainder { deliverPending() } }

    /// D7: at the end of a job, or at the beginning of the next, delivers what waits now, and leaves the rest to another.
    func deliverRemainder(in scheduler: ReferenceScheduler) {
        if hasRemainder { deliverPending(atMost: pending.count) }
        if hasRemainder { scheduler.deliverLater(self) }
    }

    /// What a job that is dropped would have delivered waits for the next post; none comes of a sender that has gone.
    func leaveRemainderToPosts() {
        guard isLast, hasRemainder else { return }
        let forgone = pending
        pending = []
        dropped += forgone.count
        endIfDone()
        for delivery in forgone { delivery.letGo() }
    }

    /// Delivers what waits on the poster, and what joins it, or no more than a share.
    func deliverPending(atMost share: Int = .max) {
        isDelivering = true
        world.levels.begin(.delivery(self))
        var left = share
        while left > 0, !pending.isEmpty {
            left -= 1
            let delivery = pending.removeFirst()
            whileHeld { run(delivery) }
            delivery.letGo()
        }
        world.levels.end()
        isDelivering = false
        switchIfFree()
        endIfDone()
    }

    /// Delivers one turn of a scheduler's.
    func deliver(_ delivery: ReferenceDelivery) {
        guard let index = pending.firstIndex(where: { $0 === delivery }) else { return }
        pending.remove(at: index)
        hold()
        isDelivering = true
        run(delivery)
        isDelivering = false
        endIfDone()
        delivery.letGo()
        letGo()
    }

    /// D2: a turn whose job will not run is dropped.
    func drop(_ delivery: ReferenceDelivery) {
        pending.removeAll { $0 === delivery }
        dropped += 1
        hold()
        if isOnce { end() } else { endIfDone() }
        delivery.letGo()
        letGo()
    }

    private func run(_ delivery: ReferenceDelivery) {
        if !hasEnded { call(delivery.notification, from: delivery.sender) }
        if isOnce { end() }
    }

    /// O4: it is called only while its owner is held for it.
    private func call(_ notification: ReferenceNotification, from sender: ReferenceSender) {
        guard let owner else { return report(notification, from: sender) }
        guard !owner.isEnding else { return owner.collect() }
        owner.whileHeld { report(notification, from: sender) }
    }

    private func report(_ notification: ReferenceNotification, from sender: ReferenceSender) {
        if let sequence { return sequence.offer(notification, world) }
        world.player.called(
            id, number: notification.number, sender: sender.posted, hasOwner: owner != nil,
            holding: [owner, sender.object])
    }
}

/// One notification that waits for one observer.
final class ReferenceDelivery: Counted {
    let notification: ReferenceNotification
    /// The sender as it is kept.
    let sender: ReferenceSender
    /// The place among all that is kept for later, in posting order.
    let place: Int

    init(_ notification: ReferenceNotification, _ world: ReferenceWorld) {
        self.notification = notification
        sender = notification.sender.kept
        world.kept += 1
        place = world.kept
        super.init()
        notification.hold()
    }

    override func ended() { notification.letGo() }
}
