internal import Foundation
internal import Synchronization

/// The pending deliveries of one observer, with the target, the backlog and the muting.
///
/// An observer gets pending deliveries if the target is not the posting thread, or if the observer
/// is muted or bounded. Until then a post calls the handler directly, and no code of this file
/// runs.
///
/// **A delivery's way.** A post appends the notification to `deliveries` under a number, and puts
/// the number into the post's `Block` for the target. The queue of the target keeps the order. The
/// block returns with the number and calls the handler. If the delivery was dropped, moved or
/// released meanwhile, the number finds no delivery.
///
/// ```
/// post ──▶ deliveries: 7 8 9          block(8) runs ──▶ take 8 ──▶ handler ──▶ return
///            │                                                        │
///            └─ block(9) ──▶ target's queue                           └─ settle
/// ```
///
/// **Calls never overlap.** `execution` says whether a block is calling the handler. Another block
/// may run meanwhile, on a concurrent queue or in a run loop inside the handler, and leaves its
/// number in `skipped`. After the return the first block delivers the skipped numbers, or submits
/// them again if the target was switched.
///
/// **The order of a target** (`BoundTarget.Order`) decides the delivery that a block takes. On a
/// serial target a block takes its own number, so a post is one step there. On a concurrent target
/// blocks run in any order, so a block takes the oldest delivery, which keeps posting order. There
/// each observer of a post has its own block. With batching a block takes all deliveries.
///
/// **Switching** (D6). The deliveries get new numbers and new blocks on the new target, so the old
/// blocks find no delivery. A switch to the posting thread takes effect when no delivery is pending
/// and no handler runs. Until then posts join the old target.
///
/// **Lives.** The registration retains its pending deliveries. A block retains none of the two,
/// because the counts would cost each delivery four accesses to memory that other threads write.
/// After the observer's end the pending deliveries keep themselves while blocks wait, and keep the
/// registration until a running handler returns.
///
/// **Cost.** A delivery costs two short locked sections, and a compare-exchange at the return. The
/// lock is the last in the order: its holder runs no code, and releases no value, of the user's.
final class PendingDeliveries: Sendable {
    struct Delivery: Sendable {
        /// The number in the block. For a kept notification, the number among the kept
        /// notifications of all observers.
        var number: UInt64
        let stored: StoredNotification
        /// The beginning of the wait, if there is a trace (L5). Otherwise 0.
        let posted: UInt64
    }

    /// Protected by `state`'s lock.
    private struct State: Sendable {
        var target: BoundTarget { didSet { (order, isInline) = (target.order, target.isInline) } }
        /// The target's, here because posts write the memory of the target's reference count.
        var order: BoundTarget.Order
        var isInline: BoundTarget.Inline
        /// Whether the target becomes the posting thread when no delivery is pending and no handler
        /// runs.
        var isLeavingTarget = false
        var shownTarget: BoundTarget { isLeavingTarget ? .postingThread : target }
        var deliveries = FIFO<Delivery>()
        var lastNumber: UInt64 = 0
        /// The first number since the target was set. Blocks with a smaller number have no
        /// delivery.
        var firstNumber: UInt64 = 1
        /// The last number whose block was submitted by a switch or an unmuting, or has begun on a
        /// run loop. A block of a later post that runs first, or inside such a block, also makes
        /// the earlier deliveries.
        var lastMoved: UInt64 = 0
        /// Whether a handler is running that was called on an earlier target.
        var isRunningElsewhere = false
        /// The numbers of blocks that ran during a call of the handler.
        var skipped: [UInt64] = []
        /// With batching: the number of the block of this observer that waits on the target.
        var waitingBlock: UInt64?
        var backlog = BufferingPolicy.unbounded
        /// The number of mutings by each muter in force, without zeros.
        var mutings: [Muter: Int] = [:]
        /// Whether the newest notification is kept: a muting since the last unmuting requested the
        /// newest.
        var keepsNewest = false
        var kept: Delivery?
        var dropped: [DropReason: Int] = [:]
        /// Whether the sender has been deallocated. Then the observer ends when no delivery is
        /// pending (M5).
        var isLast = false
        var hasEnded = false
        /// The number of blocks that have neither begun nor been dropped.
        var waitingBlocks = 0
        /// After the end: this object, while blocks wait, and the registration, while the handler
        /// runs.
        var keptForBlocks: PendingDeliveries?
        var keptForCall: Registration?
        /// Objects to release when no delivery is pending and no handler runs.
        var idleSignals: [any AnyObject & Sendable] = []

        var isMuted: Bool { !mutings.isEmpty }
        /// Whether the return of a running handler must take the lock.
        var awaitsReturn: Bool {
            isLast || isLeavingTarget || !skipped.isEmpty || !idleSignals.isEmpty
        }
    }

    private let state: Locked<State>
    /// Whether a block is calling the handler (`running`), and whether the return must take the
    /// lock (`awaited`). A call begins under the lock. A return without `awaited` exchanges
    /// `running` for 0, without the lock.
    private let execution = Atomic<UInt8>(0)
    private static let running: UInt8 = 1
    private static let awaited: UInt8 = 2

    /// The registration of the observer. While `hasEnded` is false under the lock, others retain
    /// the registration.
    private let registration: Unowned<Registration>

    init(of registration: Registration, target: BoundTarget) {
        self.registration = Unowned(registration)
        state = Locked(
            State(target: target, order: target.order, isInline: target.isInline), rank: .pending)
    }

    /// Changes the state under the lock, unless the observer has ended. Then submits the blocks,
    /// releases the values of the post, and ends an observer that has waited for this moment.
    @discardableResult
    private func change<Result>(
        afterCall: Bool = false, _ body: (inout State, inout Post) -> Result
    ) -> Result? {
        var post = Post()
        var last: Registration?
        var result: Result?
        state.withLock { state in
            if state.hasEnded { return afterCall ? post.release(state.keptForCall.take()) : () }
            result = body(&state, &post)
            if settle(&state, &post) { last = registration.take() }
        }
        post.submit()
        last?.endOrphaned()
        return result
    }

    /// If no delivery is pending and no handler runs, makes the changes that have waited for this
    /// moment. Returns whether the observer ends now, after the last delivery of a sender that was
    /// deallocated.
    private func settle(_ state: inout State, _ post: inout Post) -> Bool {
        guard state.awaitsReturn, state.deliveries.isEmpty, !isRunning() else { return false }
        if state.isLeavingTarget {
            post.release(state.target)
            (state.target, state.isLeavingTarget) = (.postingThread, false)
        }
        post.release(state.idleSignals)
        state.idleSignals = []
        return state.isLast && state.kept == nil
    }

    // MARK: Posting

    /// Takes a notification on the posting thread. Returns whether the post calls the handler
    /// instead: now, if `mayCall`. Otherwise the post calls `receive` again after submitting its
    /// blocks.
    func receive(
        _ notification: Notification, for registration: Registration, in post: inout Post,
        mayCall: Bool
    ) -> Bool {
        post.examine(notification)
        // Not under the lock, because the user's code may compute the name of a queue.
        let row = Events.areTraced ? target.description : ""
        return state.withLock { state in
            if state.hasEnded { return false }
            let isHere = isCalledHere(state)
            if isHere, !mayCall { return true }
            if state.isMuted {
                if !registration.isClaimed { keep(notification, row, in: &state, &post) }
                return false
            }
            guard registration.claimForDelivery() else { return false }
            if !isHere {
                append(post.store(notification), since: waitBegins(row), to: &state, &post)
            }
            return isHere
        }
    }

    /// Whether a post on the calling thread calls the handler (D1, D3).
    var isCalledHere: Bool { state.withLock { isCalledHere($0) } }

    private func isCalledHere(_ state: borrowing State) -> Bool {
        if state.isInline == .never || state.isRunningElsewhere { return false }
        return (state.deliveries.isEmpty || state.isInline == .always) && state.target.isCurrent
    }

    private func append(
        _ stored: consuming StoredNotification, since posted: Event.Moment, to state: inout State,
        _ post: inout Post
    ) {
        let (number, rule) = (state.lastNumber + 1, state.backlog)
        let dropped = state.deliveries.append(
            Delivery(number: number, stored: stored, posted: posted), limit: rule.limit,
            keepsOldest: rule.keepsOldest)
        if let dropped {
            drop(dropped, because: .backlogIsFull, in: &state, &post)
            if dropped.number == number { return }
        }
        state.lastNumber = number
        if state.order == .batch {
            if state.waitingBlock != nil { return }
            state.waitingBlock = number
        }
        // On a concurrent target the observers of a post run at the same time.
        add(number, inOwnBlock: state.order == .concurrent, in: &state, &post)
    }

    /// Adds a block to the post, and counts the block: no other code makes blocks.
    private func add(_ number: UInt64, inOwnBlock: Bool, in state: inout State, _ post: inout Post)
    {
        state.waitingBlocks += 1
        post.add(Block(self, number), on: state.target, inOwnBlock: inOwnBlock)
    }

    /// In a trace, the moment. `row`: the name of the target.
    private func waitBegins(_ row: String) -> Event.Moment {
        guard Events.areTraced, let registration = registration.take() else { return 0 }
        return Events.report(.waiting(for: row, at: registration.site))
    }

    private func countDrop(
        of notification: Notification, waitedSince posted: Event.Moment = 0,
        because reason: DropReason,
        in state: inout State
    ) {
        state.dropped[reason, default: 0] += 1
        if Events.areTraced {
            let site = registration.take()?.site
            Events.report(
                .dropped(notification.name, because: reason, at: site, waitedSince: posted))
        }
    }

    private func drop(
        _ delivery: Delivery, because reason: DropReason, in state: inout State, _ post: inout Post
    ) {
        countDrop(
            of: delivery.stored.notification, waitedSince: delivery.posted, because: reason,
            in: &state)
        post.release(delivery.stored)
    }

    // MARK: Delivering

    /// A block's next call of the handler.
    private struct Call {
        let delivery: Delivery
        /// The number of the block.
        let number: UInt64
        /// The number behind the block's last delivery, if the block makes further deliveries;
        /// otherwise 0.
        let end: UInt64
    }

    /// Makes the delivery of a number, if pending, and the skipped deliveries. The hazard pointer
    /// was `previous`.
    func deliver(
        _ number: UInt64, after previous: inout UInt,
        at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        var next: Call?
        let kept = state.withLock { state in
            next = begin(number, in: &state)
            return blockEnds(in: &state)
        }
        while let call = next.take() {
            // SAFETY: `end` keeps the registration until the return.
            unsafe registration.unmanaged._withUnsafeGuaranteedRef {
                unsafe $0.run(call.delivery, after: &previous, at: epochGuard)
            }
            // Ends without the lock, unless the return is awaited.
            if call.end > 0
                || !execution.compareExchange(
                    expected: Self.running, desired: 0, ordering: .acquiringAndReleasing
                )
                .exchanged
            {
                next = handlerReturned(from: call)
            }
        }
        withExtendedLifetime(kept) {}
    }

    /// Counts a block that has begun or is dropped. Returns what the last block of an ended
    /// observer releases.
    private func blockEnds(in state: inout State) -> PendingDeliveries? {
        state.waitingBlocks -= 1
        return state.waitingBlocks == 0 ? state.keptForBlocks.take() : nil
    }

    /// Begins a call of a block. `end`: the `end` of the block's previous call.
    private func begin(_ number: UInt64, before end: UInt64 = .max, in state: inout State) -> Call?
    {
        if state.hasEnded { return nil }
        if isRunning() {
            state.skipped.append(number)
            return nil
        }
        guard let (delivery, end) = take(number, before: end, from: &state) else { return nil }
        execution.store(
            Self.running | (state.awaitsReturn ? Self.awaited : 0), ordering: .releasing)
        return Call(delivery: delivery, number: number, end: end)
    }

    /// Takes the next delivery of a block, and returns the `end` of the call.
    private func take(_ number: UInt64, before end: UInt64, from state: inout State) -> (
        Delivery, end: UInt64
    )? {
        if number < state.firstNumber { return nil }
        switch state.order {
        case .serial:
            let lastMoved = state.lastMoved
            let next = state.deliveries.popFirst {
                $0.number == number || $0.number < number && $0.number <= lastMoved
            }
            return (next ?? takeExactly(number, from: &state)).map {
                ($0, $0.number == number ? 0 : number + 1)
            }
        case .concurrent:
            return state.deliveries.popFirst().map { ($0, 0) }
        case .batch:
            if state.waitingBlock == number { state.waitingBlock = nil }
            guard let next = state.deliveries.popFirst(if: { $0.number < end }) else { return nil }
            return (next, state.deliveries.isEmpty ? 0 : min(end, state.lastNumber + 1))
        }
    }

    private func takeExactly(_ number: UInt64, from state: inout State) -> Delivery? {
        if let first = state.deliveries.popFirst(if: { $0.number == number }) { return first }
        guard let first = state.deliveries.first, first.number < number else { return nil }
        return state.deliveries.remove { $0.number == number }
    }

    /// Has blocks of later posts make the delivery of a number first, if pending. Called when the
    /// block of the number begins, on a target that may run later blocks inside a handler of the
    /// block.
    func allowOvertaking(of number: UInt64) {
        state.withLock { $0.lastMoved = max($0.lastMoved, number) }
    }

    /// Ends a call, carries out work postponed until the return, and begins the block's next call.
    private func handlerReturned(from call: Call) -> Call? {
        change(afterCall: true) { state, post in
            execution.store(0, ordering: .releasing)
            state.isRunningElsewhere = false
            if call.number >= state.firstNumber {
                if call.end > 0, let next = begin(call.number, before: call.end, in: &state) {
                    return next
                }
                while !state.skipped.isEmpty {
                    if let next = begin(state.skipped.removeFirst(), in: &state) { return next }
                }
            } else {
                // Switched meanwhile: the skipped blocks ran on the new target, and the calls
                // follow there.
                for number in state.skipped {
                    state.lastMoved = max(state.lastMoved, number)
                    add(number, inOwnBlock: true, in: &state, &post)
                }
                state.skipped = []
            }
            return nil
        } ?? nil
    }

    /// Whether the handler is running. If so, the return will take the lock. Called under the lock.
    private func isRunning() -> Bool {
        let old = execution.bitwiseOr(Self.awaited, ordering: .acquiringAndReleasing).oldValue
        if old & Self.running != 0 { return true }
        execution.store(0, ordering: .releasing)
        return false
    }

    /// Drops and counts the deliveries of a block that never runs. The deliveries are released
    /// without the lock.
    func drop(_ number: UInt64) {
        let hasDropped = change { state, post in
            let dropped: [Delivery]
            switch state.order {
            case .serial: dropped = [takeExactly(number, from: &state)].compactMap(\.self)
            case .concurrent:
                dropped = [take(number, before: .max, from: &state)?.0].compactMap(\.self)
            case .batch:
                // Otherwise the target was switched meanwhile.
                guard state.waitingBlock == number else { return false }
                state.waitingBlock = nil
                dropped = state.deliveries.removeAll { $0.number >= number }
            }
            for delivery in dropped { drop(delivery, because: .targetCancelled, in: &state, &post) }
            return !dropped.isEmpty
        }
        // A dropped delivery has used a once observer up (R7).
        if hasDropped == true, let registration = registration.take(), registration.isOnce {
            registration.end(because: .deliveryDropped)
        }
        withExtendedLifetime(state.withLock { blockEnds(in: &$0) }) {}
    }

    // MARK: The target

    var target: DeliveryTarget {
        let target = state.withLock(\.shownTarget)
        return target.isPostingThread
            ? .postingThread : DeliveryTarget(target.copy(forObserver: false))
    }

    /// `nil` for the posting thread.
    func redirect(to new: BoundTarget?) {
        change { state, post in
            state.isLeavingTarget = new == nil && !state.target.isPostingThread
            guard let new, !new.isSame(as: state.target) else { return }
            post.release(state.target)
            state.target = new
            (state.waitingBlock, state.skipped, state.isRunningElsewhere) = (nil, [], isRunning())
            state.firstNumber = state.lastNumber + 1
            for var delivery in state.deliveries.removeAll() {
                state.lastNumber += 1
                delivery.number = state.lastNumber
                state.deliveries.append(delivery)
            }
            state.lastMoved = state.lastNumber
            if new.order == .batch, !state.deliveries.isEmpty {
                state.waitingBlock = state.firstNumber
            }
            // One block for each delivery, so that other work on the new queue runs between the
            // deliveries.
            for number in state.firstNumber..<(state.waitingBlock ?? state.lastNumber) + 1 {
                add(number, inOwnBlock: true, in: &state, &post)
            }
        }
    }

    // MARK: The backlog (D8) and muting

    var backlog: BufferingPolicy { state.withLock(\.backlog) }

    func setBacklog(_ backlog: BufferingPolicy) {
        change { state, post in
            state.backlog = backlog
            guard state.deliveries.count > backlog.limit else { return }
            for delivery in state.deliveries.removeAll() {
                let dropped = state.deliveries.append(
                    delivery, limit: backlog.limit, keepsOldest: backlog.keepsOldest)
                if let dropped { drop(dropped, because: .backlogIsFull, in: &state, &post) }
            }
        }
    }

    private static let lastKept = Atomic<UInt64>(0)

    /// While the observer is muted, keeps a notification and drops the older kept one. Or drops the
    /// notification.
    private func keep(
        _ notification: Notification, _ row: String, in state: inout State, _ post: inout Post
    ) {
        guard state.keepsNewest else {
            return countDrop(of: notification, because: .muted, in: &state)
        }
        if let displaced = state.kept { drop(displaced, because: .muted, in: &state, &post) }
        let number = PendingDeliveries.lastKept.wrappingAdd(1, ordering: .relaxed).newValue
        state.kept = Delivery(
            number: number, stored: post.store(notification), posted: waitBegins(row))
    }

    var isMuted: Bool { state.withLock(\.isMuted) }

    /// The number of the kept notification among all kept notifications, in posting order.
    var numberOfKept: UInt64? { state.withLock { $0.kept?.number } }

    /// The token, or the owner for all current observers.
    enum Muter { case token, owner }

    func mute(by muter: Muter, keepingNewest: Bool) {
        state.withLock { state in
            state.mutings[muter, default: 0] += 1
            if keepingNewest { state.keepsNewest = true }
        }
    }

    /// Ends one muting of each observer. Returns false if the token has not muted. The kept
    /// notifications are delivered as if by one post, made now.
    static func unmute(_ observers: [PendingDeliveries], by muter: Muter) -> Bool {
        var post = Post()
        var calls: [(registration: Registration, delivery: Delivery)] = []
        for pending in observers {
            guard pending.unmute(by: muter, in: &post, &calls) else { return false }
        }
        post.submit()
        unsafe ThreadRecord.withGuard(center: EpochGuard.block, epoch: 0) { epochGuard in
            var previous: UInt = 0
            for call in calls {
                unsafe call.registration.run(call.delivery, after: &previous, at: epochGuard)
            }
        }
        for pending in observers { pending.change { _, _ in } }
        return true
    }

    private func unmute(
        by muter: Muter, in post: inout Post,
        _ calls: inout [(registration: Registration, delivery: Delivery)]
    ) -> Bool {
        state.withLock { state in
            if state.hasEnded { return true }
            // The owner has not muted an observer that was attached later.
            guard let count = state.mutings[muter] else { return muter == .owner }
            state.mutings[muter] = count > 1 ? count - 1 : nil
            guard !state.isMuted else { return true }
            state.keepsNewest = false
            guard let kept = state.kept.take(), let registration = registration.take() else {
                return true
            }
            post.release(kept.stored)
            if !registration.claimForDelivery() {
                // R7: only now is a once observer used up.
                drop(kept, because: .usedUp, in: &state, &post)
            } else if isCalledHere(state) {
                calls.append((registration, kept))
            } else {
                state.lastMoved = state.lastNumber + 1
                append(kept.stored, since: kept.posted, to: &state, &post)
            }
            return true
        }
    }

    // MARK: The end

    /// Ends the observer of a deallocated sender after the pending deliveries (M5).
    func endAfterPending() { change { state, _ in state.isLast = true } }

    /// Ends the observer. The caller releases the result: a block that never runs must not retain
    /// the target.
    func end(of registration: Registration) -> [any Sendable] {
        state.withLock { state in
            if state.hasEnded { return [] }
            state.hasEnded = true
            state.keptForBlocks = state.waitingBlocks > 0 ? self : nil
            state.keptForCall = isRunning() ? registration : nil
            let deliveries = state.deliveries.removeAll() + [state.kept.take()].compactMap(\.self)
            for delivery in deliveries where Events.areTraced {
                let notification = delivery.stored.notification
                countDrop(
                    of: notification, waitedSince: delivery.posted, because: .observerEnded,
                    in: &state)
            }
            let released: [any Sendable] = [deliveries, state.target, state.idleSignals]
            (state.target, state.idleSignals, state.isLeavingTarget) = (.postingThread, [], false)
            return released
        }
    }

    // MARK: Looking

    /// Returns the results of `body` for the pending notifications, oldest first, and for the kept
    /// one. `body` is called under the lock, so the caller never releases the last reference to a
    /// notification.
    func mapNotifications<Result: Sendable>(_ body: @Sendable (Notification) -> Result) -> [Result]
    {
        state.withLock {
            ($0.deliveries.elements + [$0.kept].compactMap(\.self)).map {
                body($0.stored.notification)
            }
        }
    }

    struct Report {
        /// The reader of the report describes the target, because the user's code may compute the
        /// name of a queue.
        var target = BoundTarget.postingThread
        var pending = 0
        var kept = 0
        var dropped: [DropReason: Int] = [:]
        var muted = 0
    }

    /// The report, and the hook's counts at the same moment: an element on the way between the two
    /// is in one of them.
    func report(with hook: RegistrationHook?) -> (Report, RegistrationHook.Counts) {
        state.withLock { state in
            let report = Report(
                target: state.shownTarget, pending: state.deliveries.count,
                kept: state.kept == nil ? 0 : 1,
                dropped: state.dropped, muted: state.mutings.values.reduce(0, +))
            return (report, hook?.counts ?? (0, [:]))
        }
    }

    /// Whether deliveries wait on the caller's own target.
    var waitsForCaller: Bool { state.withLock { !$0.deliveries.isEmpty && $0.target.isCurrent } }

    /// Retains an object until no delivery is pending and no handler runs. Returns false if so
    /// already.
    func retainUntilIdle(_ signal: any AnyObject & Sendable) -> Bool {
        state.withLock { state in
            if state.hasEnded || state.deliveries.isEmpty && !isRunning() { return false }
            state.idleSignals.append(signal)
            return true
        }
    }

    func releaseBeforeIdle(_ signal: any AnyObject & Sendable) {
        change { state, post in
            state.idleSignals.removeAll { $0 === signal }
            post.release(signal)
        }
    }
}
