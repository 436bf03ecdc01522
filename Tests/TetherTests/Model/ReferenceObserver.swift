/// The model of an observer.
///
/// A count of references to this object models the references to the observer's handler (R8).
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
    unowned let world: ReferenceWorld

    private(set) var hasEnded = false
    /// `nil` for the posting thread.
    private(set) var target: ReferenceTarget?
    /// Whether the target becomes the posting thread when nothing is pending (D6).
    private var isLeavingTarget = false
    /// The call of the handler by a block.
    private var call: Call?
    private(set) var backlog = ModelOperation.Backlog.unbounded
    private(set) var dropped = 0
    /// Whether the one post of a `once` observer has reached it (R7).
    private var isUsedUp = false
    /// Whether it takes no further post (R11).
    private var isFinishing = false
    /// Whether it ends when nothing is pending, because its sender has ended (M5), or because it
    /// finishes (R11).
    private var endsWhenIdle = false

    private var tokenMutings = 0
    private(set) var ownerMutings = 0
    private var keepsNewest = false
    /// The newest notification that was posted while it was muted (D9).
    private(set) var kept: ReferenceNotification?
    /// Whether an unmuting is about to deliver the kept notification.
    private var isUnmuting = false

    /// The sequence that takes its deliveries, in place of a handler.
    weak var sequence: ReferenceSequence?
    /// Its closure in a foreign center.
    var closure: ReferenceForeign.Closure?

    private final class Call {
        /// The deliveries that the block makes.
        var due: [ReferenceDelivery] = []
        /// The deliveries whose blocks have begun while the handler ran.
        var blocked: [ReferenceDelivery] = []
        /// Whether the observer has been switched to another target since.
        var isLeft = false
    }

    init(
        _ observation: Observation, id: Int?, in center: ReferenceCenter, sender: ReferenceSender,
        owner: ReferenceObject?, target: ReferenceTarget? = nil, world: ReferenceWorld
    ) {
        self.id = id
        self.center = center
        self.sender = sender
        self.owner = owner
        self.target = target
        self.world = world
        name = observation.name
        isOnce = observation.once
        backlog = observation.backlog
        key = observation.key
        if id != nil { world.player.captureMade() }
    }

    /// R8: the captures of the handler are released.
    override func deallocated() { if let id { world.player.released(id) } }

    /// Its pending deliveries, in posting order.
    var pending: [ReferenceDelivery] { target?.deliveries(of: self) ?? [] }

    // MARK: Beginning and ending

    /// M1, M2: whether a post reaches it.
    func matches(_ notification: ReferenceNotification) -> Bool {
        (name == nil || name == notification.name)
            && (sender == .nobody || sender == notification.sender)
    }

    /// M5, O8: adds it to its center, unless its sender or its owner is being deinitialised.
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

    /// R1, R8: nothing of it starts, and nothing is pending. S2: a sequence keeps its elements if
    /// its sender or its center has been deallocated.
    func end(keepingElements: Bool = false) {
        guard !hasEnded else { return }
        hasEnded = true
        var notifications: [ReferenceNotification] = []
        for delivery in pending {
            target.map { delivery.leave($0, as: .dropped) }
            notifications.append(delivery.notification)
        }
        if let kept = kept.take() { notifications.append(kept) }
        isLeavingTarget = false
        owner?.attached.removeAll { $0 === self }
        sender.object?.observers.removeAll { $0 === self }
        sequence?.finish(keepingElements: keepingElements && owner?.isEnding != true)
        center.remove(self)
        for notification in notifications { notification.release() }
    }

    /// M5: it ends after its pending deliveries.
    func senderEnded() {
        endsWhenIdle = true
        settle()
    }

    /// R11: it takes no further post, and ends after the pending deliveries and the running call.
    func finish() {
        guard !hasEnded else { return }
        isFinishing = true
        senderEnded()
    }

    /// When nothing is pending, a switch to the posting thread takes effect (D6), and an observer
    /// ends (M5, R11).
    private func settle() {
        guard !hasEnded, pending.isEmpty, call == nil, !isUnmuting else { return }
        if isLeavingTarget {
            target = nil
            isLeavingTarget = false
        }
        if endsWhenIdle, kept == nil { end(keepingElements: true) }
    }

    // MARK: Posts

    /// Whether the posting thread calls it, and no block.
    ///
    /// D1: on the posting thread. D3: where its target runs, unless a delivery of its own is
    /// pending. D6: a call that runs on an earlier target ends first.
    private var isCalledByPosts: Bool {
        guard let target else { return true }
        return target.isCurrent && call?.isLeft != true && pending.isEmpty
    }

    /// D3: whether it waits for its turn in the block of a post, because a delivery of another
    /// observer waits at its target. A post that a handler makes does not.
    private var waitsForOthers: Bool {
        target?.deliveries.isEmpty == false && world.runningHandlers == 0
    }

    /// A post asks the observer, once. False if the post calls the handler, when all blocks are
    /// submitted (M3). `isKept`: whether an unmuting delivers the notification, as if posted now
    /// (D9).
    func accept(
        _ posted: ReferenceNotification, _ submission: inout ReferenceSubmission,
        isKept: Bool = false
    ) -> Bool {
        if isMuted {
            keep(posted, &submission)
            return true
        }
        if isCalledByPosts, !waitsForOthers { return false }
        isUsedUp = isOnce
        append(posted.retainedForLater(), &submission, isKept: isKept)
        return true
    }

    /// The turn of the observer on the posting thread, in registration order (D1). What a handler
    /// of the post has muted or switched is called all the same (D3); what one has ended is not
    /// (R4), and what another post has used up is not (R7).
    func takeTurn(_ posted: ReferenceNotification) {
        if hasEnded || isUsedUp { return }
        isUsedUp = isOnce
        handle(posted)
    }

    /// R1, R7, R11.
    var takesPosts: Bool { !hasEnded && !isUsedUp && !isFinishing }

    /// D2: adds a delivery to the list of its target, and to a block there, unless it is more than
    /// the backlog keeps (D8).
    private func append(
        _ notification: ReferenceNotification, _ submission: inout ReferenceSubmission,
        isKept: Bool = false
    ) {
        guard let target else { return }
        let delivery = ReferenceDelivery(of: notification, to: self)
        world.pending.append(delivery)
        if isKept { target.takeOlder(delivery) } else { target.take(delivery) }
        trim(&submission)
        if delivery.stage == .pending, needsBlock { submission.add(delivery, on: target) }
    }

    /// D7: with batching, none while another waits, in the queue or for the handler's return.
    private var needsBlock: Bool {
        guard let target, target.kind == .batching else { return true }
        if let call, !call.blocked.isEmpty { return false }
        return !target.hasBlock(of: self)
    }

    // MARK: Calls

    /// Calls the handler. R7: that uses a `once` observer up. O4: it is called only while its owner
    /// is retained for it.
    private func handle(_ notification: ReferenceNotification) {
        if hasEnded { return }
        if let owner {
            if !owner.isEnding { owner.retained { callHandler(notification) } }
        } else {
            callHandler(notification)
        }
        if isOnce { end() } else { settle() }
    }

    private func callHandler(_ notification: ReferenceNotification) {
        guard let id else {
            sequence?.offer(notification)
            return
        }
        world.runningHandlers += 1
        world.player.called(
            id, number: notification.payload.number, sender: notification.sender.posted,
            hasOwner: owner != nil)
        world.runningHandlers -= 1
    }

    /// The block of a delivery begins. D4: calls of one observer never overlap, so a block that
    /// begins while the handler runs waits for its return.
    func begin(_ delivery: ReferenceDelivery) {
        if hasEnded { return }
        if let call {
            call.blocked.append(delivery)
            return
        }
        retained {
            let call = Call()
            self.call = call
            make(at: delivery, call)
            while !call.isLeft, !call.blocked.isEmpty { make(at: call.blocked.removeFirst(), call) }
            if !call.isLeft { self.call = nil }
            settle()
        }
    }

    private func make(at delivery: ReferenceDelivery, _ call: Call) {
        guard let target else { return }
        call.due = target.due(at: delivery)
        for due in call.due where due.stage == .pending && !call.isLeft {
            due.leave(target, as: .made)
            handle(due.notification)
            if call.isLeft { leave(call) }
            due.notification.release()
        }
    }

    /// D6: a call on an earlier target has ended. Blocks that have begun meanwhile on the present
    /// target are put there again.
    private func leave(_ call: Call) {
        self.call = nil
        guard let target, !hasEnded else { return }
        var submission = ReferenceSubmission()
        for blocked in call.blocked { submission.addBlock(of: blocked, on: target) }
        submission.submit()
    }

    /// D2: a block was cancelled before it began. R7: a dropped delivery uses a `once` observer up.
    func cancel(_ delivery: ReferenceDelivery) {
        guard !hasEnded, let target else { return }
        // A block that makes all that waits makes what waited when it began (D7).
        let begun = target.kind == .batching ? call?.due ?? [] : []
        let lost = target.lost(at: delivery).filter { lost in !begun.contains { $0 === lost } }
        guard !lost.isEmpty else { return }
        for delivery in lost { delivery.leave(target, as: .dropped) }
        dropped += lost.count
        retained {
            if isOnce { end() } else { settle() }
        }
        for delivery in lost { delivery.notification.release() }
    }

    // MARK: Switching (D6)

    /// The target as it was set last.
    var shownTarget: ReferenceTarget? { isLeavingTarget ? nil : target }

    /// Switches observers, and moves their pending deliveries, in posting order across them.
    static func redirect(_ observers: [ReferenceObserver], to new: ReferenceTarget?) {
        // R8: the call that switches the observers uses them, until it returns.
        for observer in observers { observer.retain() }
        move(observers.filter { $0.leave(for: new) }, to: new)
        for observer in observers { observer.release() }
    }

    private static func move(_ switched: [ReferenceObserver], to new: ReferenceTarget?) {
        guard let new, let world = switched.first?.world else { return }
        let moved = world.pending.filter { delivery in
            switched.contains { $0 === delivery.observer }
        }
        for delivery in moved { new.takeOlder(delivery) }
        var submission = ReferenceSubmission()
        for delivery in moved where delivery.observer.needsBlock {
            submission.addBlock(of: delivery, on: new)
        }
        submission.submit()
    }

    /// Leaves the target for the new one. True if the pending deliveries are to move.
    private func leave(for new: ReferenceTarget?) -> Bool {
        guard !hasEnded else { return false }
        isLeavingTarget = new == nil && target != nil
        settle()
        guard let new, new !== target else { return false }
        target?.leave(self)
        target = new
        call?.isLeft = true
        call?.blocked = []
        return true
    }

    // MARK: Muting (D9)

    var mutings: Int { tokenMutings + ownerMutings }
    var isMuted: Bool { mutings > 0 }

    func mute(byOwner: Bool = false, keepingNewest: Bool) {
        guard !hasEnded else { return }
        if byOwner { ownerMutings += 1 } else { tokenMutings += 1 }
        if keepingNewest { keepsNewest = true }
    }

    /// Drops a post, or keeps it in place of the one that was kept before.
    private func keep(_ posted: ReferenceNotification, _ submission: inout ReferenceSubmission) {
        if !keepsNewest || kept != nil { dropped += 1 }
        guard keepsNewest else { return }
        submission.release(kept)
        kept = posted.retainedForLater()
        world.keeping.removeAll { $0 === self }
        world.keeping.append(self)
    }

    /// Ends one muting of each observer. The kept notifications are delivered as if posted then, in
    /// posting order. What a handler of the unmuting does holds none of them back.
    static func unmute(_ observers: [ReferenceObserver], byOwner: Bool = false) {
        var submission = ReferenceSubmission()
        var called: [(observer: ReferenceObserver, kept: ReferenceNotification)] = []
        for observer in observers where !observer.hasEnded {
            guard let kept = observer.unmute(byOwner: byOwner) else { continue }
            if observer.isUsedUp {
                observer.dropped += 1
                submission.release(kept)
            } else if observer.accept(kept, &submission, isKept: true) {
                submission.release(kept)
            } else {
                called.append((observer, kept))
                observer.isUsedUp = observer.isOnce
                observer.isUnmuting = true
                observer.retain()
            }
        }
        submission.submit()
        for (observer, kept) in called {
            observer.isUnmuting = false
            observer.handle(kept)
        }
        for (observer, kept) in called {
            kept.release()
            observer.release()
        }
        for observer in observers { observer.settle() }
    }

    /// Ends one muting. Returns the kept notification if no muting is left.
    private func unmute(byOwner: Bool) -> ReferenceNotification? {
        if byOwner { ownerMutings -= 1 } else { tokenMutings -= 1 }
        if isMuted { return nil }
        keepsNewest = false
        return kept.take()
    }

    // MARK: Backlogs (D8)

    func bound(to backlog: ModelOperation.Backlog) {
        guard !hasEnded else { return }
        self.backlog = backlog
        var submission = ReferenceSubmission()
        trim(&submission)
        submission.submit()
    }

    /// Drops the oldest, or the newest, of more than may wait.
    private func trim(_ submission: inout ReferenceSubmission) {
        guard let target else { return }
        var kept = pending
        for delivery in backlog.trim(&kept) {
            delivery.leave(target, as: .dropped)
            dropped += 1
            submission.release(delivery.notification)
        }
    }
}

extension ModelOperation.Backlog {
    /// Removes the elements that are more than may wait.
    func trim<Element>(_ waiting: inout [Element]) -> [Element] {
        switch self {
        case .unbounded: return []
        case .newest(let limit):
            let excess = Array(waiting.prefix(max(0, waiting.count - limit)))
            waiting.removeFirst(excess.count)
            return excess
        case .oldest(let limit):
            let excess = Array(waiting.suffix(max(0, waiting.count - limit)))
            waiting.removeLast(excess.count)
            return excess
        }
    }
}
