internal import Foundation
internal import Synchronization

/// One observer's target, muting and bound, and the deliveries that do not happen inside the post.
///
/// An observer gets a mailbox if the target is not the posting thread, or if the observer is muted
/// or bounded. Until then a post calls the handler directly, and no code of this file runs.
///
/// **A delivery's way.** A post appends the notification to the `DeliveryQueue`, in a slot with a
/// number, and puts the slot into the post's `Block` for the target. The queue of the target keeps
/// the order. On the target, the block takes the delivery of its slot, and calls the handler. A post
/// that asks one observer alone takes the short way, `takeAlone`, without a `Post` and `Effects`.
/// `DeliveryOrder` says which deliveries a block takes. If they were dropped, moved, released or
/// made by another block meanwhile, there is none.
///
/// ```
/// post ──▶ queue: 7 8 9               block(8) begins ──▶ take 8 ──▶ handler ──▶ return
///            │                                                          │ if awaited
///            └─ block(9) ──▶ target                                     └─ settle
/// ```
///
/// **States.** Four parts change independently. One lock protects the first three:
///
/// | Part | States |
/// |---|---|
/// | `Destination` | posting thread; on a target; leaving the target for the posting thread (D6) |
/// | `Lifetime` | live; ends when idle, after its sender (M5) or by `finish()` (R11); ended |
/// | `Muting` | see there (D9) |
/// | `HandlerExecution` | idle; running; awaited |
///
/// The execution is beside the lock, because the return ends a call without the lock. The
/// *observer* is idle when no delivery is pending, no block is calling the handler, and no unmuting
/// is delivering a kept notification on its own thread. What waits for that moment is done by
/// `settle`: leaving the target, the end after the sender's end or by `finish()`, and the release
/// of `idleSignals`. An end also waits until no notification is kept. The end by `finish()` waits
/// for a running async call, too.
///
/// **Calls by blocks never overlap.** Calls that a post or an unmuting makes itself are not
/// recorded here. If a block begins while another block calls the handler (on a concurrent queue,
/// or in a run loop inside the handler), the block leaves its slot in `begunMeanwhile`. After the
/// return the first block begins these blocks, or submits them again after a switch.
///
/// **Switching** (D6). The deliveries get new slots and new blocks on the new target, so the
/// blocks on the old target find nothing.
///
/// **Who retains whom.** The registration retains its mailbox. A block retains none of
/// the two, because the counts would cost each delivery four accesses to memory that other threads
/// write. After the observer's end, `Extras` retains this mailbox while blocks wait,
/// and the registration until a running handler returns.
///
/// **Cost.** A delivery costs two short locked sections, and one exchange at the return. Only leaf
/// locks are taken under the lock. Its holder runs no code, and releases no value, of the user's.
/// `Effects` carries both past the lock. An observer that waits for its first post takes 80 bytes
/// here: the queue, and the parts that most observers never need, are made by their first use.
///
/// **Elsewhere.** The parts of the state are in Mailbox+State.swift, muting and unmuting
/// in Mailbox+Muting.swift, and the reads of audits and leak checks in
/// Mailbox+Reading.swift.
final class Mailbox: Sendable {
    typealias Delivery = DeliveryQueue.Delivery

    let state: Locked<State>
    let execution = HandlerExecution()

    /// The registration of the observer. Until the end, others retain the registration.
    let registration: Unowned<Registration>

    /// `target`: `nil` for the posting thread.
    init(of registration: Registration, target: BlockTarget?) {
        self.registration = Unowned(registration)
        state = Locked(State(on: target, in: registration.center), rank: .pending)
    }

    /// Changes the state under the lock, unless the observer has ended, and carries out the
    /// effects. Every change after which the observer may be idle is made here or by `endCall`.
    func change(_ body: (inout State, inout Effects) -> Void) {
        var effects = Effects()
        var end: EndWhenIdle?
        state.withLock { state in
            if state.hasEnded { return }
            body(&state, &effects)
            state.publishWaitingCount()
            end = settle(&state, &effects)
        }
        end?.perform()
        effects.carryOut()
    }

    /// The end of an observer after its last delivery.
    private struct EndWhenIdle {
        let registration: Registration
        let cause: EndCause

        func perform() { registration.end(because: cause) }
    }

    /// Does the work that has waited until the observer is idle. Returns the end of the observer,
    /// if it comes now.
    private func settle(_ state: inout State, _ effects: inout Effects) -> EndWhenIdle? {
        // With deliveries pending, the next call finds the work, and begins as awaited.
        guard state.hasWorkWhenIdle, state.hasNothingToCall else { return nil }
        // The return of a running handler calls this function again.
        if execution.awaitReturnIfRunning() { return nil }
        if case .leaving(let target) = state.destination {
            effects.release(target)
            setTarget(nil, in: &state)
        }
        if state.hasExtras {
            effects.release(state.extras.idleSignals)
            state.extras.idleSignals = []
        }
        guard state.kept == nil else { return nil }
        if state.endsAfterAsyncCall { return nil }
        guard let cause = state.causeOfEndWhenIdle, let registration = registration.retained else {
            return nil
        }
        return EndWhenIdle(registration: registration, cause: cause)
    }

    /// Sets the target; `nil` for the posting thread.
    private func setTarget(_ target: BlockTarget?, in state: inout State) {
        // The retained reference is not the last one; see `deliverKept`. The center is not stored,
        // so this object stays small.
        let center = registration.retained?.center
        state.moveWaitingCount(to: center.flatMap { target?.waiting(in: $0) })
        state.destination = Destination(target)
        state.inlineRule = BlockTarget.InlineRule(of: target)
    }

    // MARK: The idle observer, for leak checks

    /// Retains an object until the observer is idle. Returns false if the observer is idle already,
    /// or has ended.
    func retainUntilIdle(_ signal: any AnyObject & Sendable) -> Bool {
        state.withLock { state in
            if state.hasEnded { return false }
            // With deliveries pending, the next call finds the signal, and begins as awaited.
            if state.hasNothingToCall, !execution.awaitReturnIfRunning() { return false }
            state.extras.idleSignals.append(signal)
            return true
        }
    }

    func releaseBeforeIdle(_ signal: any AnyObject & Sendable) {
        change { state, effects in
            state.extras.idleSignals.removeAll { $0 === signal }
            effects.release(signal)
        }
    }

    // MARK: Posting

    /// Takes a notification on the posting thread. Returns whether the post calls the handler
    /// instead.
    func receive(
        _ notification: Notification, as waiting: inout WaitingForm, of post: inout Post,
        for registration: Registration
    ) -> Bool {
        waiting.examine(notification)
        // Not under the lock, because the user's code may compute the name of a queue.
        let targetName = Events.areTraced ? target.description : ""
        return state.withLock { state in
            guard state.takesPosts else { return false }
            if state.isMuted {
                if !registration.isClaimed {
                    keep(notification, as: &waiting, targetName, in: &state, &post)
                }
                return false
            }
            if isInline(state, &post.overtaking) { return true }
            guard registration.mayTakeDelivery() else { return false }
            let delivery = post.delivery(
                of: waiting.store(notification), waitsSince: reportWait(on: targetName))
            append(delivery, to: &state, &post.effects)
            return false
        }
    }

    /// What becomes of a post that asks no other observer.
    enum Reception {
        /// The notification is appended or dropped.
        case taken
        /// The notification is appended, and the target gets a block with the slot.
        case appended(DeliverySlot, BlockTarget)
        /// The post calls the handler.
        case call
        /// Nothing was done: there is more to decide or to report.
        case undecided
    }

    /// Takes the notification of a post that asks no other observer: the short way, for an observer
    /// without a hook, a bound or a notification to keep.
    func takeAlone(_ notification: Notification, _ stored: StoredNotification?) -> Reception {
        if Events.areTraced { return .undecided }
        if stored == nil, notification.hasEnding { return .undecided }
        return state.withLock { state in
            guard state.takesPosts else { return .taken }
            guard state.decidesAtOnce else { return .undecided }
            if state.isMuted {
                countDrop(of: notification, because: .muted, in: &state)
                return .taken
            }
            if state.mayBeInline {
                var overtaking = Overtaking()
                if isInline(state, &overtaking) { return .call }
            }
            state.makeQueue(of: self)
            // Without a bound nothing is dropped.
            let slot = state.queue.append(
                Delivery(
                    stored: stored ?? StoredNotification(notification),
                    postNumber: PostNumber.next(), waitsSince: nil))
            state.publishWaitingCount()
            guard let slot, let target = state.destination.target else { return .taken }
            return .appended(slot, target)
        }
    }

    /// Whether a post, or an unmuting, on the calling thread calls the handler (D1, D3).
    func isInline(_ state: borrowing State, _ overtaking: inout Overtaking) -> Bool {
        if state.isCallElsewhere { return false }
        switch state.inlineRule {
        case .never:
            return false
        case .unlessPending:
            guard state.destination.isCurrent else { return false }
            guard let waiting = state.waitingAtPlace else { return !state.hasPending }
            switch overtaking.answer(at: waiting) {
            // The answer may be of another observer at the place. What is pending here has come
            // since, and belongs to later posts, unless it is late.
            case .nothingWaits: return !state.hasLate
            case .nested: return !state.hasPending
            case .refused: return false
            }
        case .always:
            return state.destination.isCurrent
        }
    }

    /// `isLate`: whether the block may come behind blocks of later posts.
    func append(
        _ delivery: consuming Delivery, isLate: Bool = false, to state: inout State,
        _ effects: inout Effects
    ) {
        state.makeQueue(of: self)
        if state.queue.refusesNext {
            return drop(delivery, because: .backlogIsFull, in: &state, &effects)
        }
        if let oldest = state.queue.makeRoom() {
            drop(oldest, because: .backlogIsFull, in: &state, &effects)
        }
        let slot = state.queue.append(consume delivery, isLate: isLate)
        state.publishWaitingCount()
        guard let slot, let target = state.destination.target else { return }
        effects.joinBlock(slot, on: target)
    }

    /// Reports the beginning of a wait to a trace, if there is one. `targetName`: as computed
    /// before the lock.
    func reportWait(on targetName: String) -> ObserverEvent.Moment? {
        guard Events.areTraced, let registration = registration.retained else { return nil }
        return Events.report(.waiting(for: targetName, at: registration.site))
    }

    func countDrop(
        of notification: Notification, waitedSince moment: ObserverEvent.Moment? = nil,
        because reason: DropReason, in state: inout State
    ) {
        state.extras.drops.add(because: reason)
        Events.report(
            .dropped(
                reason, of: notification.name, at: registration.retained?.site,
                waitedSince: moment))
    }

    func drop(
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

    /// Makes the deliveries of a block, and of blocks that begin meanwhile. `previous`: the
    /// registration that the block called last.
    func deliver(
        _ slot: DeliverySlot, after previous: inout RegistrationAddress,
        at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        // After the lock others may release this object, unless there is a call: then `end(of:)`
        // keeps the registration, and so this object, until the return.
        var (next, retained) = state.withLock { state in
            (begin(slot, in: &state), selfWithoutBlocks(in: &state))
        }
        while let call = next.take() {
            // SAFETY: `end(of:)` keeps the registration until the return.
            unsafe registration.unmanaged._withUnsafeGuaranteedRef {
                unsafe $0.perform(call.delivery, after: &previous, at: epochGuard)
            }
            if call.turn.isOver, execution.endUnlessAwaited() {
                // From here on others may release this object.
                break
            }
            next = endCall(of: call.turn)
        }
        withExtendedLifetime(retained) {}
    }

    /// Returns what an ended observer releases, if no block has a slot any more.
    private func selfWithoutBlocks(in state: inout State) -> Mailbox? {
        guard state.hasEnded, state.hasExtras, !state.hasBlocks else { return nil }
        return state.extras.selfForBlocks.take()
    }

    /// Begins a block, unless a handler is running: its return then begins the block.
    @inline(__always)
    private func begin(_ slot: DeliverySlot, in state: inout State) -> Call? {
        // There is a block, so the queue is made.
        guard !state.hasEnded, state.queue.isOfPresentTarget(slot.number) else {
            state.queue.releaseBlock(of: slot)
            return nil
        }
        // The return of the running handler begins this block, or submits it again after a switch.
        // The delivery is late, because the block may then come behind the blocks of later posts.
        if execution.awaitReturnIfRunning() {
            state.queue.markLate(slot)
            state.extras.begunMeanwhile.append(slot)
            return nil
        }
        return nextCall(in: state.queue.begin(slot), of: &state)
    }

    /// Begins the next call of a block.
    @inline(__always)
    private func nextCall(in turn: DeliveryQueue.Turn, of state: inout State) -> Call? {
        var turn = turn
        guard let delivery = state.queue.takeNext(in: &turn) else { return nil }
        state.publishWaitingCount()
        // Work for the idle observer that found deliveries pending has not asked for this return.
        // The blocks in `begunMeanwhile` need the return, too. So the call begins as awaited, and
        // its return takes the lock.
        execution.begin(awaited: state.hasWorkWhenIdle || state.hasBegunMeanwhile)
        return Call(delivery: delivery, turn: turn)
    }

    /// Ends a call under the lock, does the work that has waited for the return, and begins the
    /// next call.
    private func endCall(of turn: DeliveryQueue.Turn) -> Call? {
        var effects = Effects()
        var end: EndWhenIdle?
        var next: Call?
        state.withLock { state in
            if state.hasEnded {
                effects.release(state.extras.registrationForCall.take())
                return
            }
            execution.end()
            state.isCallElsewhere = false
            next = continueBlocks(after: turn, in: &state, &effects)
            end = settle(&state, &effects)
        }
        // Read first, because the end may release the last reference to this object.
        let address = registration.registrationAddress
        end?.perform()
        effects.carryOut(afterCallOf: address)
        return next
    }

    /// Begins the next call of the block, or of one that began meanwhile. After a switch, submits
    /// the latter again: they began on the new target, and this thread is not there.
    private func continueBlocks(
        after turn: DeliveryQueue.Turn, in state: inout State, _ effects: inout Effects
    ) -> Call? {
        guard state.queue.isOfPresentTarget(turn.number) else {
            // The switch has set a target.
            guard let target = state.destination.target else { return nil }
            while state.hasBegunMeanwhile, let slot = state.extras.begunMeanwhile.popFirst() {
                effects.addOwnBlock(slot, on: target)
            }
            return nil
        }
        if !turn.isOver, let next = nextCall(in: turn, of: &state) { return next }
        while state.hasBegunMeanwhile, let slot = state.extras.begunMeanwhile.popFirst() {
            if let next = begin(slot, in: &state) { return next }
        }
        return nil
    }

    /// Called before a block calls its first handler. A later block, which a handler of this block
    /// runs inside its call, may reach this observer first, and then makes the delivery of the
    /// slot first.
    func markLate(_ slot: DeliverySlot) { state.withLock { $0.queue.markLate(slot) } }

    /// Drops and counts the deliveries of a block that never runs. The deliveries are released
    /// without the lock.
    func dropBlock(_ slot: DeliverySlot) {
        var hasDropped = false
        change { state, effects in
            for delivery in state.queue.drop(slot) {
                hasDropped = true
                drop(delivery, because: .targetCancelled, in: &state, &effects)
            }
        }
        // A dropped delivery has used a once observer up (R7).
        if hasDropped, let registration = registration.retained, registration.isOnce {
            registration.end(because: .deliveryDropped)
        }
        // Last: while the block has the slot, this object stays (`selfForBlocks`).
        let retained = state.withLock { state in
            state.queue.releaseBlock(of: slot)
            return selfWithoutBlocks(in: &state)
        }
        withExtendedLifetime(retained) {}
    }

    /// Notes the call of an async handler, which goes on when its block has returned.
    func asyncCallBegins() { state.withLock { $0.isAsyncCallUnderWay = true } }

    /// Notes the return of an async handler, and ends an observer that has waited for it.
    func asyncCallReturned() { change { state, _ in state.isAsyncCallUnderWay = false } }

    // MARK: The target

    var target: DeliveryTarget {
        let target = state.withLock { $0.destination.lastSetTarget }
        return DeliveryTarget(target?.copyForValue())
    }

    /// A delivery that a switch has moved, and that needs a block on the new target.
    struct Moved {
        let slot: DeliverySlot
        let postNumber: PostNumber
    }

    /// Switches several observers to another target, and has their pending deliveries moved in
    /// posting order (D6). A post meanwhile makes the earlier deliveries of its own observers
    /// first. `nil`: the posting thread, for each observer when it is idle.
    static func redirect(_ observers: [Mailbox], to new: BlockTarget?) {
        var moved: [Moved] = []
        for mailbox in observers { mailbox.redirect(to: new, &moved) }
        guard let new else { return }
        if observers.count > 1 { moved.sort { $0.postNumber < $1.postNumber } }
        var effects = Effects()
        for delivery in moved { effects.addOwnBlock(delivery.slot, on: new) }
        effects.carryOut()
    }

    private func redirect(to new: BlockTarget?, _ moved: inout [Moved]) {
        change { state, effects in
            guard let new else {
                state.destination = state.destination.leavingTarget
                return
            }
            if let old = state.destination.target {
                if new.isSame(as: old) {
                    state.destination = .on(old)
                    return
                }
                effects.release(old)
            }
            setTarget(new, in: &state)
            // A running handler is on an earlier target. Its return makes no delivery on the new
            // one, and until then nothing is called inline.
            state.isCallElsewhere = execution.awaitReturnIfRunning()
            moveDeliveries(to: new, in: &state, &moved)
        }
    }

    private func moveDeliveries(
        to target: BlockTarget, in state: inout State, _ moved: inout [Moved]
    ) {
        guard state.hasQueue else { return }
        for slot in state.queue.move(to: target.order) {
            guard let postNumber = slot.delivery?.postNumber else { continue }
            moved.append(Moved(slot: slot, postNumber: postNumber))
        }
        releaseBegunMeanwhile(in: &state)
    }

    /// Releases the slots of blocks that began during a call of the handler, and make nothing.
    private func releaseBegunMeanwhile(in state: inout State) {
        while state.hasBegunMeanwhile, let slot = state.extras.begunMeanwhile.popFirst() {
            state.queue.releaseBlock(of: slot)
        }
    }

    // MARK: The backlog (D8)

    var backlog: BufferingPolicy {
        state.withLock { $0.hasQueue ? $0.queue.bound : .unbounded }
    }

    func setBacklog(_ backlog: BufferingPolicy) {
        change { state, effects in
            state.makeQueue(of: self)
            for delivery in state.queue.setBound(backlog) {
                drop(delivery, because: .backlogIsFull, in: &state, &effects)
            }
        }
    }

    // MARK: The end

    /// Ends the observer after the pending deliveries (M5).
    func endAfterPending() {
        change { state, _ in
            if case .live = state.lifetime { state.lifetime = .endsWhenIdle }
        }
    }

    /// Takes no further post, and ends the observer after the pending deliveries (R11).
    func beginFinishing() { change { state, _ in state.lifetime = .finishing } }

    /// Ends the observer. The caller releases the result, past the lock.
    func end(of registration: Registration) -> [any Sendable] {
        state.withLock { state in
            if state.hasEnded { return [] }
            state.lifetime = .ended
            let isRunning = execution.awaitReturnIfRunning()
            if isRunning { state.extras.registrationForCall = registration }
            var deliveries = state.hasPending ? state.queue.removeAll() : []
            releaseBegunMeanwhile(in: &state)
            if state.hasBlocks { state.extras.selfForBlocks = self }
            state.publishWaitingCount()
            if let kept = state.kept {
                deliveries.append(kept)
            }
            // Reported, and not counted: an ended observer has no counts.
            for delivery in deliveries {
                Events.report(
                    .dropped(
                        .observerEnded, of: delivery.stored.notification.name,
                        at: registration.site, waitedSince: delivery.waitsSince))
            }
            var released: [any Sendable] = [deliveries, state.destination]
            if state.hasExtras {
                released.append(state.extras.idleSignals)
                state.extras.idleSignals = []
                _ = state.extras.muting.takeKept()
            }
            // A block that never runs may keep this object, and must not keep the target.
            state.destination = .postingThread
            state.inlineRule = BlockTarget.InlineRule(of: nil)
            return released
        }
    }
}
