internal import Foundation
internal import Synchronization

/// The deliveries to one observer that do not happen inside the post, and the observer's muting.
///
/// An observer gets pending deliveries if the target is not the posting thread, or if the observer
/// is muted or bounded. Until then a post calls the handler directly, and no code of this file
/// runs.
///
/// **A delivery's way.** A post appends the notification to the `DeliveryQueue` under a number, and
/// puts the number into the post's `Block` for the target. The queue of the target keeps the order.
/// The block returns with the number, takes the delivery, and calls the handler. `DeliveryOrder`
/// says which delivery a block takes. If the delivery was dropped, moved or released meanwhile,
/// there is none.
///
/// ```
/// post ──▶ queue: 7 8 9               block(8) begins ──▶ take 8 ──▶ handler ──▶ return
///            │                                                          │
///            └─ block(9) ──▶ target                                     └─ settle
/// ```
///
/// **States.** Four parts change independently, under one lock:
///
/// | Part | States |
/// |---|---|
/// | `Destination` | on a target; leaving the target for the posting thread (D6) |
/// | `Lifetime` | live; ends when idle, after its sender (M5) or by `finish()` (R11); ended |
/// | `Muting` | see there (D9) |
/// | `HandlerExecution` | idle; running; awaited. Beside the lock, because the return ends a call without the lock |
///
/// *Idle* means: no delivery is pending, and no block or unmuting is calling the handler. What waits for that moment is done by
/// `settle`: leaving the target, the end after the sender's end, and the release of `idleSignals`.
///
/// **Calls never overlap.** If a block begins while another block calls the handler (on a
/// concurrent queue, or in a run loop inside the handler), the block leaves its number in
/// `skipped`. After the return the first block delivers the skipped numbers, or submits them again
/// after a switch.
///
/// **Switching** (D6). The deliveries get new numbers and new blocks on the new target, so the
/// blocks on the old target find nothing.
///
/// **Who retains whom.** The registration retains its pending deliveries. A block retains none of
/// the two, because the counts would cost each delivery four accesses to memory that other threads
/// write. After the observer's end, `Lifetime.ended` retains these pending deliveries while blocks
/// wait, and the registration until a running handler returns.
///
/// **Cost.** A delivery costs two short locked sections, and one exchange at the return. The lock
/// is the last in the order: its holder runs no code, and releases no value, of the user's.
/// `Effects` carries both past the lock.
final class PendingDeliveries: Sendable {
    typealias Delivery = DeliveryQueue.Delivery

    /// Where blocks go.
    private enum Destination: Sendable {
        case on(BoundTarget)
        /// The posting thread becomes the target when the observer is idle. Until then posts join
        /// the deliveries on the old target.
        case leaving(BoundTarget)

        var target: BoundTarget {
            switch self {
            case .on(let target), .leaving(let target): target
            }
        }

        /// The target as it was set last.
        var shown: BoundTarget {
            switch self {
            case .on(let target): target
            case .leaving: .postingThread
            }
        }

        var isLeaving: Bool {
            if case .leaving = self { true } else { false }
        }
    }

    private enum Lifetime: Sendable {
        case live
        /// The observer ends when idle: its sender has been deallocated (M5), or it finishes and
        /// takes no further post (R11).
        case endsWhenIdle(EndCause)
        /// `forBlocks`: this object, while blocks wait. `forCall`: until a running handler returns.
        case ended(forBlocks: PendingDeliveries?, forCall: Registration?)
    }

    /// Protected by `state`'s lock.
    private struct State: Sendable {
        var queue: DeliveryQueue
        var destination: Destination
        /// The target's, here because posts write the memory of the target's reference count.
        var isInline: BoundTarget.Inline
        /// The waiting deliveries of the center's observers at the target's place, and how many of
        /// `queue` are in it.
        var waiting: WaitingCount?
        var counted = 0
        var lifetime = Lifetime.live
        var muting = Muting()
        var dropped: [DropReason: Int] = [:]
        /// The numbers of blocks on the present target that began during a call of the handler.
        var skipped = FIFO<UInt64>()
        /// Whether the call under way was begun on an earlier target. Then nothing is called inline
        /// until that call returns.
        var isCallElsewhere = false
        /// The number of blocks that have neither begun nor been dropped, on all targets so far.
        var waitingBlocks = 0
        /// The number of kept notifications that an unmuting is about to deliver on its own thread.
        var unmutingCalls = 0
        /// Objects to release when the observer is idle.
        var idleSignals: [any AnyObject & Sendable] = []

        init(on target: BoundTarget, in center: CenterCore) {
            queue = DeliveryQueue(target.order)
            destination = .on(target)
            isInline = target.isInline
            waiting = target.waiting(in: center)
        }

        /// Counts a change of the queue at the target's place.
        @inline(__always)
        mutating func countWaiting() {
            guard let waiting else { return }
            waiting.add(queue.count - counted)
            counted = queue.count
        }

        var hasEnded: Bool {
            if case .ended = lifetime { true } else { false }
        }

        /// Why the observer will end when it is idle, if so.
        var causeOfEndWhenIdle: EndCause? {
            if case .endsWhenIdle(let cause) = lifetime { cause } else { nil }
        }

        var takesPosts: Bool { !hasEnded && causeOfEndWhenIdle != .finished }

        /// Whether the observer has work for the moment when it is idle.
        var hasWorkWhenIdle: Bool {
            causeOfEndWhenIdle != nil || destination.isLeaving || !idleSignals.isEmpty
        }
    }

    private let state: Locked<State>
    private let execution = HandlerExecution()

    /// The registration of the observer. Until the end, others retain the registration.
    private let registration: Unowned<Registration>

    init(of registration: Registration, target: BoundTarget) {
        self.registration = Unowned(registration)
        state = Locked(State(on: target, in: registration.center), rank: .pending)
    }

    /// Changes the state under the lock, unless the observer has ended, and carries out the
    /// effects.
    private func change(_ body: (inout State, inout Effects) -> Void) {
        var effects = Effects()
        var ending: Ending?
        state.withLock { state in
            if state.hasEnded { return }
            body(&state, &effects)
            state.countWaiting()
            ending = settle(&state, &effects)
        }
        ending?.perform()
        effects.perform()
    }

    /// The end of an observer after its last delivery.
    private struct Ending {
        let registration: Registration
        let cause: EndCause

        func perform() { registration.endCompleted(because: cause) }
    }

    /// Does the work that has waited until the observer is idle. Returns the end of the observer,
    /// if it comes now.
    private func settle(_ state: inout State, _ effects: inout Effects) -> Ending? {
        // With deliveries pending, nobody needs to ask the return: the next call asks when it begins.
        guard state.hasWorkWhenIdle, state.queue.isEmpty, state.unmutingCalls == 0,
            !execution.awaitReturn()
        else { return nil }
        if case .leaving(let target) = state.destination {
            effects.release(target)
            setTarget(.postingThread, in: &state)
        }
        effects.release(state.idleSignals)
        state.idleSignals = []
        guard let cause = state.causeOfEndWhenIdle, state.muting.kept == nil else { return nil }
        guard let registration = registration.take() else { return nil }
        return Ending(registration: registration, cause: cause)
    }

    /// Sets the target. Returns the numbers of the deliveries that need blocks there.
    @discardableResult
    private func setTarget(_ target: BoundTarget, in state: inout State) -> Range<UInt64> {
        let waiting = registration.take().flatMap { target.waiting(in: $0.center) }
        // At the same place the deliveries stay counted, so that no post sees none meanwhile.
        if waiting !== state.waiting {
            state.waiting?.add(-state.counted)
            state.waiting = waiting
            state.counted = 0
        }
        state.destination = .on(target)
        state.isInline = target.isInline
        return state.queue.move(to: target.order)
    }

    // MARK: Posting

    /// Takes a notification on the posting thread. Returns whether the post calls the handler
    /// instead. While collecting, the post calls `receive` again after submitting its blocks.
    func receive(
        _ notification: Notification, for registration: Registration, in post: inout Post,
        _ step: PostStep
    ) -> Bool {
        post.examine(notification)
        // Not under the lock, because the user's code may compute the name of a queue.
        let row = Events.areTraced ? target.description : ""
        return state.withLock { state in
            guard state.takesPosts else { return false }
            let isHere = isCalledHere(state, step)
            if isHere, step == .collecting { return true }
            if state.muting.isMuted {
                if !registration.isClaimed {
                    keep(notification, row, in: &state, &post)
                }
                return false
            }
            guard registration.claimForDelivery() else { return false }
            if !isHere {
                let delivery = post.delivery(of: notification, waitsSince: waitBegins(row))
                append(delivery, to: &state, &post.effects)
            }
            return isHere
        }
    }

    /// Whether a post on the calling thread will call the handler (D1, D3).
    var isCalledHere: Bool { state.withLock { isCalledHere($0, .collecting) } }

    private func isCalledHere(_ state: borrowing State, _ step: PostStep) -> Bool {
        if state.isCallElsewhere { return false }
        switch state.isInline {
        case .never:
            return false
        case .unlessPending:
            let target = state.destination.target
            return state.queue.isEmpty && target.isCurrent && mayOvertake(state.waiting, step)
        case .always:
            return state.destination.target.isCurrent
        }
    }

    /// Whether a post of the center on the target may be handled before the deliveries that wait
    /// there: if there are none, or if a handler makes the post, which belongs to the delivery
    /// under way. The first part of a post decides.
    private func mayOvertake(_ waiting: WaitingCount?, _ step: PostStep) -> Bool {
        if step == .calling { return true }
        guard let waiting, !waiting.isZero else { return true }
        return ThreadRecord.isDelivering(besidesPost: step != .unmuting)
    }

    /// `isLate`: whether the block may come behind blocks of later posts.
    private func append(
        _ delivery: consuming Delivery, isLate: Bool = false, to state: inout State,
        _ effects: inout Effects
    ) {
        let appended = state.queue.append(delivery, isLate: isLate)
        if let dropped = appended.dropped {
            drop(dropped, because: .backlogIsFull, in: &state, &effects)
        }
        state.countWaiting()
        guard let number = appended.block else { return }
        state.waitingBlocks += 1
        effects.add(Block(self, number), on: state.destination.target)
    }

    /// Submits a block of its own for a delivery that has lost its block.
    private func resubmit(_ number: UInt64, in state: inout State, _ effects: inout Effects) {
        state.waitingBlocks += 1
        effects.submit(Block(self, number), on: state.destination.target)
    }

    /// In a trace, the moment. `row`: the name of the target.
    private func waitBegins(_ row: String) -> Event.Moment {
        guard Events.areTraced, let registration = registration.take() else { return 0 }
        return Events.report(.waiting(for: row, at: registration.site))
    }

    private func countDrop(
        of notification: Notification, waitedSince begun: Event.Moment = 0,
        because reason: DropReason,
        in state: inout State
    ) {
        state.dropped[reason, default: 0] += 1
        if Events.areTraced {
            let site = registration.take()?.site
            Events.report(
                .dropped(notification.name, because: reason, at: site, waitedSince: begun))
        }
    }

    private func drop(
        _ delivery: Delivery, because reason: DropReason, in state: inout State,
        _ effects: inout Effects
    ) {
        let notification = delivery.stored.notification
        countDrop(of: notification, waitedSince: delivery.waitsSince, because: reason, in: &state)
        effects.release(delivery.stored)
    }

    // MARK: Delivering

    /// A call of the handler by a block.
    private struct Call {
        let delivery: Delivery
        let turn: DeliveryQueue.Turn
    }

    /// Makes the deliveries of a block, and of blocks that begin meanwhile. The hazard pointer was
    /// `previous`.
    func deliver(
        _ number: UInt64, after previous: inout UInt,
        at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        var next: Call?
        let retained = state.withLock { state in
            next = begin(DeliveryQueue.Turn(number), in: &state)
            return blockEnds(in: &state)
        }
        while let call = next.take() {
            // SAFETY: `end` keeps the registration until the return.
            unsafe registration.unmanaged._withUnsafeGuaranteedRef {
                unsafe $0.perform(call.delivery, after: &previous, at: epochGuard)
            }
            if call.turn.isOver, execution.endUnlessAwaited() { break }
            next = handlerReturned(from: call.turn)
        }
        withExtendedLifetime(retained) {}
    }

    /// Counts a block that has begun or is dropped. Returns what the last block of an ended
    /// observer releases.
    private func blockEnds(in state: inout State) -> PendingDeliveries? {
        state.waitingBlocks -= 1
        guard state.waitingBlocks == 0 else { return nil }
        guard case .ended(let forBlocks, let forCall) = state.lifetime else { return nil }
        state.lifetime = .ended(forBlocks: nil, forCall: forCall)
        return forBlocks
    }

    /// Begins the next call of a block, unless a handler is running: its return then continues with
    /// this block.
    private func begin(_ turn: DeliveryQueue.Turn, in state: inout State) -> Call? {
        if state.hasEnded { return nil }
        if execution.awaitReturn() {
            state.skipped.append(turn.number)
            return nil
        }
        var turn = turn
        guard let delivery = state.queue.takeNext(in: &turn) else { return nil }
        state.countWaiting()
        // Who asked before this call does not ask again.
        execution.begin(awaited: state.hasWorkWhenIdle || !state.skipped.isEmpty)
        return Call(delivery: delivery, turn: turn)
    }

    /// Ends a call under the lock, does the work that has waited for the return, and begins the
    /// next call.
    private func handlerReturned(from turn: DeliveryQueue.Turn) -> Call? {
        var effects = Effects()
        var ending: Ending?
        var next: Call?
        state.withLock { state in
            if case .ended(let forBlocks, let forCall) = state.lifetime {
                effects.release(forCall)
                state.lifetime = .ended(forBlocks: forBlocks, forCall: nil)
                return
            }
            execution.end()
            state.isCallElsewhere = false
            next = continueBlocks(after: turn, in: &state, &effects)
            ending = settle(&state, &effects)
        }
        ending?.perform()
        effects.perform()
        return next
    }

    /// Begins the next call of the block, or of a skipped one. After a switch, submits the skipped
    /// blocks again: they began on the new target, and this thread is not there.
    private func continueBlocks(
        after turn: DeliveryQueue.Turn, in state: inout State, _ effects: inout Effects
    ) -> Call? {
        guard state.queue.isCurrent(turn.number) else {
            while let number = state.skipped.popFirst() {
                state.queue.markLate(number)
                resubmit(number, in: &state, &effects)
            }
            return nil
        }
        if !turn.isOver, let next = begin(turn, in: &state) { return next }
        while let number = state.skipped.popFirst() {
            if let next = begin(DeliveryQueue.Turn(number), in: &state) { return next }
        }
        return nil
    }

    /// Notes that a block which runs inside a handler may reach this observer before the block of
    /// the number does, and must then make the earlier delivery first.
    func markLate(_ number: UInt64) { state.withLock { $0.queue.markLate(number) } }

    /// Drops and counts the deliveries of a block that never runs. The deliveries are released
    /// without the lock.
    func drop(_ number: UInt64) {
        var hasDropped = false
        change { state, effects in
            for delivery in state.queue.drop(number) {
                hasDropped = true
                drop(delivery, because: .targetCancelled, in: &state, &effects)
            }
        }
        // A dropped delivery has used a once observer up (R7).
        if hasDropped, let registration = registration.take(), registration.isOnce {
            registration.end(because: .deliveryDropped)
        }
        let retained = state.withLock { blockEnds(in: &$0) }
        withExtendedLifetime(retained) {}
    }

    // MARK: The target

    var target: DeliveryTarget {
        let target = state.withLock(\.destination.shown)
        return target.isPostingThread
            ? .postingThread : DeliveryTarget(target.copy(forObserver: false))
    }

    /// A delivery that a switch has moved, and that needs a block on the new target.
    struct Moved {
        let block: Block
        let posted: PostingPlace
    }

    /// Switches several observers to another target, and has their pending deliveries moved in
    /// posting order (D6). `nil`: the posting thread, when each observer is idle.
    static func redirect(_ observers: [PendingDeliveries], to new: BoundTarget?) {
        var moved: [Moved] = []
        for pending in observers { pending.redirect(to: new, &moved) }
        guard let new else { return }
        if observers.count > 1 { moved.sort { $0.posted < $1.posted } }
        var effects = Effects()
        for delivery in moved { effects.submit(delivery.block, on: new) }
        effects.perform()
    }

    private func redirect(to new: BoundTarget?, _ moved: inout [Moved]) {
        change { state, effects in
            let old = state.destination.target
            guard let new else {
                state.destination = old.isPostingThread ? .on(old) : .leaving(old)
                return
            }
            if new.isSame(as: old) {
                state.destination = .on(old)
                return
            }
            effects.release(old)
            let posted = state.queue.deliveries.map(\.posted)
            let numbers = setTarget(new, in: &state)
            state.skipped = FIFO()
            // The return of a running handler continues the deliveries only on its own target.
            state.isCallElsewhere = execution.awaitReturn()
            state.waitingBlocks += numbers.count
            for (number, posted) in zip(numbers, posted) {
                moved.append(Moved(block: Block(self, number), posted: posted))
            }
        }
    }

    // MARK: The backlog (D8)

    var backlog: BufferingPolicy { state.withLock(\.queue.bound) }

    func setBacklog(_ backlog: BufferingPolicy) {
        change { state, effects in
            for delivery in state.queue.setBound(backlog) {
                drop(delivery, because: .backlogIsFull, in: &state, &effects)
            }
        }
    }

    // MARK: Muting (D9)

    /// While the observer is muted, keeps a notification and drops the older kept one. Or drops the
    /// notification.
    private func keep(
        _ notification: Notification, _ row: String, in state: inout State, _ post: inout Post
    ) {
        guard state.muting.keepsNewest else {
            return countDrop(of: notification, because: .muted, in: &state)
        }
        let delivery = post.delivery(of: notification, waitsSince: waitBegins(row))
        if let displaced = state.muting.keep(delivery) {
            drop(displaced, because: .muted, in: &state, &post.effects)
        }
    }

    var isMuted: Bool { state.withLock(\.muting.isMuted) }

    /// The place of the kept notification in posting order.
    var placeOfKept: PostingPlace? { state.withLock { $0.muting.kept?.posted } }

    func mute(by muter: Muting.Muter, keepingNewest: Bool) {
        state.withLock { $0.muting.begin(by: muter, keepingNewest: keepingNewest) }
    }

    /// Ends one muting of each observer. Returns false if the token has not muted. The kept
    /// notifications are delivered as if by one post, made now.
    static func unmute(_ observers: [PendingDeliveries], by muter: Muting.Muter) -> Bool {
        var effects = Effects()
        var calls: [InlineCall] = []
        for pending in observers {
            guard pending.unmute(by: muter, &effects, &calls) else { return false }
        }
        effects.perform()
        unsafe ThreadRecord.withGuard(center: EpochGuard.block, epoch: 0) { epochGuard in
            var previous: UInt = 0
            for call in calls {
                unsafe call.registration.perform(call.delivery, after: &previous, at: epochGuard)
            }
        }
        for call in calls {
            call.pending.change { state, _ in state.unmutingCalls -= 1 }
        }
        return true
    }

    /// A call of a handler with its kept notification, on the unmuting thread.
    private struct InlineCall {
        let pending: PendingDeliveries
        let registration: Registration
        let delivery: Delivery
    }

    private func unmute(
        by muter: Muting.Muter, _ effects: inout Effects, _ calls: inout [InlineCall]
    ) -> Bool {
        state.withLock { state in
            if state.hasEnded { return true }
            switch state.muting.end(by: muter) {
            case .refused:
                // The owner has not muted an observer that was attached later.
                return muter == .owner
            case .stillMuted, .over(nil):
                return true
            case .over(let kept?):
                deliverKept(kept, in: &state, &effects, &calls)
                return true
            }
        }
    }

    private func deliverKept(
        _ delivery: Delivery, in state: inout State, _ effects: inout Effects,
        _ calls: inout [InlineCall]
    ) {
        effects.release(delivery.stored)
        guard let registration = registration.take() else { return }
        if !registration.claimForDelivery() {
            // R7: only now is a once observer used up.
            drop(delivery, because: .usedUp, in: &state, &effects)
        } else if isCalledHere(state, .unmuting) {
            state.unmutingCalls += 1
            calls.append(
                InlineCall(pending: self, registration: registration, delivery: delivery))
        } else {
            var delivery = delivery
            delivery.posted = PostingPlace.next()
            append(delivery, isLate: true, to: &state, &effects)
        }
    }

    // MARK: The end

    /// Ends the observer after the pending deliveries (M5, R11).
    func endAfterPending(because cause: EndCause) {
        change { state, _ in
            if state.causeOfEndWhenIdle == .finished { return }
            state.lifetime = .endsWhenIdle(cause)
        }
    }

    /// Ends the observer. The caller releases the result: a block that never runs must not retain
    /// the target.
    func end(of registration: Registration) -> [any Sendable] {
        state.withLock { state in
            if state.hasEnded { return [] }
            let isRunning = execution.awaitReturn()
            let hasBlocks = state.waitingBlocks > 0
            state.lifetime = .ended(
                forBlocks: hasBlocks ? self : nil, forCall: isRunning ? registration : nil)
            var deliveries = state.queue.removeAll()
            state.countWaiting()
            if let kept = state.muting.takeKept() {
                deliveries.append(kept)
            }
            if Events.areTraced {
                for delivery in deliveries {
                    countDrop(
                        of: delivery.stored.notification, waitedSince: delivery.waitsSince,
                        because: .observerEnded,
                        in: &state)
                }
            }
            let released: [any Sendable] = [
                deliveries, state.destination.target, state.idleSignals,
            ]
            state.destination = .on(.postingThread)
            state.isInline = BoundTarget.postingThread.isInline
            state.idleSignals = []
            return released
        }
    }

    // MARK: Looking

    /// Returns the results of `body` for the pending notifications, oldest first, and for the kept
    /// one. `body` is called under the lock, so the caller never releases the last reference to a
    /// notification.
    func mapNotifications<Result: Sendable>(_ body: @Sendable (Notification) -> Result) -> [Result]
    {
        state.withLock { state in
            var results = state.queue.deliveries.map { body($0.stored.notification) }
            if let kept = state.muting.kept {
                results.append(body(kept.stored.notification))
            }
            return results
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
                target: state.destination.shown,
                pending: state.queue.count,
                kept: state.muting.kept == nil ? 0 : 1,
                dropped: state.dropped,
                muted: state.muting.count)
            return (report, hook?.counts ?? (0, [:]))
        }
    }

    /// Whether deliveries wait on the caller's own target.
    var waitsForCaller: Bool {
        state.withLock { !$0.queue.isEmpty && $0.destination.target.isCurrent }
    }

    /// Retains an object until the observer is idle. Returns false if so already.
    func retainUntilIdle(_ signal: any AnyObject & Sendable) -> Bool {
        state.withLock { state in
            if state.hasEnded { return false }
            let hasNothingToCall = state.queue.isEmpty && state.unmutingCalls == 0
            if hasNothingToCall, !execution.awaitReturn() { return false }
            state.idleSignals.append(signal)
            return true
        }
    }

    func releaseBeforeIdle(_ signal: any AnyObject & Sendable) {
        change { state, effects in
            state.idleSignals.removeAll { $0 === signal }
            effects.release(signal)
        }
    }
}
