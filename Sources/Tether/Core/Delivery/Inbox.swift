internal import Foundation

/// What is pending for one observer, where it is delivered, and whether it is muted.
///
/// It exists from the first time that the observer has a target other than the poster, is muted or bounded.
final class Inbox: Sendable {
    /// SAFETY: a notification is handed from the poster to the target, one at a time.
    struct Delivery: @unchecked Sendable {
        /// The turn in the mailbox; without meaning while the target is the poster. Of a notification that was kept while
        /// muted, its place among all such.
        var ticket: UInt64
        var notification: Notification
        let registration: Registration
        /// Tells it from others as long as the main queue has not been asked whether it is for the registration; 0 if it
        /// is.
        var question: UInt64 = 0
        /// What has the same one, and not 0, was posted during one muting: only the newest is to be delivered (D9).
        var muting: UInt64 = 0
    }

    /// SAFETY: `called` is only looked at while its thread is at the call, or has ended in it; `plain` is the route's, which
    /// holds it, because `lookForPlain` follows every change.
    @safe struct State: Sendable {
        var route: Route
        /// The route that a drain or poster which is delivering now leaves for later.
        var nextRoute: Route?
        var pending = FIFO<Delivery>()
        /// Whether a drain, or a poster that delivers what was left from before a switch, is calling the handler.
        var isDelivering = false
        /// The registration that the drain calls, which holds it meanwhile: for ever, if its thread ends in the handler.
        var called: Unmanaged<Registration>?
        var dropped = 0
        /// Whether the sender has gone, so that the observer ends when nothing is pending any more (M5).
        var isLast = false
        var hasEnded = false
        /// The route's mailbox, if what is posted now only takes its turn there, on a target that is elsewhere: the usual
        /// case, in which nothing else is looked at.
        var plain: Unmanaged<Mailbox>?
        /// The mailbox whose next drain is to deliver what is left on the poster. Held, because a mailbox is otherwise held
        /// by who delivers there.
        var leftTo: Mailbox?
        var flow = FlowControl<Delivery>()
        /// What was posted while muted, after what is kept, and may turn out to be for the registration.
        var keptQuestions: [Delivery] = []
        /// Whether there may be questions, pending or kept.
        var hasQuestions = false
        /// Whether the main queue is about to be asked about what is kept.
        var isAskScheduled = false

        init(route: Route) {
            self.route = route
            lookForPlain()
        }

        /// What is kept while muted, oldest first.
        var kept: [Delivery] { (flow.kept.map { [$0] } ?? []) + keptQuestions }

        var isDone: Bool {
            isLast && pending.isEmpty && !isDelivering && flow.kept == nil && keptQuestions.isEmpty
        }

        /// Whether the delivery whose turn it is, or how many wait behind it, depends on questions.
        var mustAsk: Bool {
            guard hasQuestions else { return false }
            return flow.backlog != .unbounded || pending.first.map { $0.question != 0 } == true
        }

        /// Takes out the first delivery that has one of some turns of a mailbox, to deliver it.
        mutating func begin(_ tickets: Range<UInt64>, from mailbox: Mailbox) -> Delivery? {
            guard let delivery = take(tickets, from: mailbox) else { return nil }
            isDelivering = true
            // SAFETY: who delivers holds it; see `called`.
            unsafe called = .passUnretained(delivery.registration)
            return delivery
        }

        /// Takes out the first delivery that has one of some turns of a mailbox, if they are still ours there.
        mutating func take(_ tickets: Range<UInt64>, from mailbox: Mailbox) -> Delivery? {
            guard route.mailbox === mailbox else { return nil }
            if let delivery = pending.popFirst(if: { tickets.contains($0.ticket) }) {
                mailbox.finish()
                return delivery
            }
            // Not the first one: others before it are being dropped just now, or, as tickets rise, it is not there.
            guard let first = pending.first, first.ticket < tickets.lowerBound,
                let delivery = pending.remove(where: { tickets.contains($0.ticket) })
            else { return nil }
            mailbox.finish()
            return delivery
        }

        /// Sets `plain` by all else.
        mutating func lookForPlain() {
            let isPlain = !hasEnded && !flow.isMuted && !hasQuestions && flow.backlog == .unbounded
            unsafe plain = isPlain ? route.mailbox.flatMap { $0.mayBeCurrent ? nil : unsafe .passUnretained($0) } : nil
        }

        /// Whether pending deliveries wait for a post to deliver them on the poster.
        var hasLeftovers: Bool { route.isPoster && !pending.isEmpty && !isDelivering }

        /// Whether pending deliveries wait for a post to deliver them on the poster; if so, the caller is to do it.
        mutating func beginLeftovers() -> Bool {
            guard hasLeftovers else { return false }
            isDelivering = true
            return true
        }

        /// Drops, counted, what is left on the poster if the sender has gone: no post comes that would deliver it.
        mutating func dropIfLast() -> [Delivery] {
            guard isLast, hasLeftovers else { return [] }
            dropped += pending.count
            return pending.removeAll()
        }
    }

    private let state: Guarded<State>
    /// The oldest of what is pending, the oldest last, while a drain delivers it: so that the drain, which takes one after
    /// the other, and posts, which add to the state, do not wait for each other. The last lock that is taken.
    private let inHand = Guarded<ContiguousArray<Delivery>>([])

    init(route: Route) {
        state = Guarded(State(route: route))
    }

    /// Calls `body` with the state, after everything that is pending was put back into it.
    func withState<Result>(_ body: (inout State) -> sending Result) -> sending Result {
        state.withLock { state in
            inHand.withLock { state.pending.putBack(&$0) }
            defer { state.lookForPlain() }
            return body(&state)
        }
    }

    /// The target as the user gave it last.
    var target: DeliveryTarget { withState { ($0.nextRoute ?? $0.route).target } }

    /// Where it delivers now; another target may have been asked for.
    var route: Route { withState(\.route) }

    /// What is pending, oldest first, and what is kept while muted.
    var notifications: [Notification] {
        withState { state in
            let deliveries = state.pending.elements + state.kept
            // SAFETY: whoever looks does not change it; see `Delivery`.
            nonisolated(unsafe) let notifications = deliveries.map(\.notification)
            return unsafe notifications
        }
    }

    /// How many deliveries wait on the target, how many until the observer is unmuted; how many were dropped; and how
    /// many mutings are in force.
    struct Report {
        var target = "poster"
        var pending = 0
        var kept = 0
        var dropped = 0
        var muted = 0
    }

    /// The report, and what a hook has meanwhile, so that an element on its way from one to the other is in one.
    func report(with hook: RegistrationHook?) -> (Report, (pending: Int, dropped: Int)) {
        withState { state in
            let report = Report(
                target: (state.nextRoute ?? state.route).target.description, pending: state.pending.count,
                kept: state.kept.count, dropped: state.dropped, muted: state.flow.mutings)
            return (report, hook?.counts ?? (0, 0))
        }
    }

    var counts: (pending: Int, dropped: Int) { withState { ($0.pending.count, $0.dropped) } }

    // MARK: Receiving

    enum Step {
        case none
        case inline
        /// To schedule a drain for what is pending.
        case schedule(Drain, Mailbox)
        case deliverPending
        case ask
    }

    /// What follows a look at the state: a step to take, and what to let go of, with no lock held.
    struct Reception {
        var step = Step.none
        var released: [Delivery]?
    }

    /// Delivers or enqueues a notification, on the poster; or drops or keeps it, if the observer is muted.
    ///
    /// Of a question only the main queue, which is the target and not where this is called, can tell whether it is for the
    /// registration.
    func receive(_ notification: Notification, for registration: Registration, isQuestion: Bool = false) {
        // X3: what is kept for later is kept without an object whose end has begun.
        let hasEndingObject = notification.hasEndingObject
        func kept() -> Notification { hasEndingObject ? notification.withoutObject : notification }
        let reception = state.withLock { state -> Reception in
            if let mailbox = unsafe state.plain, !isQuestion, !registration.isOnce {
                // SAFETY: see `State`.
                let (ticket, drain) = unsafe mailbox._withUnsafeGuaranteedRef { $0.append(self) }
                state.pending.append(Delivery(ticket: ticket, notification: kept(), registration: registration))
                guard let drain else { return Reception() }
                return Reception(step: .schedule(drain, unsafe mailbox.takeUnretainedValue()))
            }
            defer { state.lookForPlain() }
            if state.hasEnded { return Reception() }
            if state.flow.isMuted {
                var reception = Reception()
                if !registration.isClaimed {
                    reception = hold(
                        state.flow.keepsNewest
                            ? Delivery(
                                ticket: Inbox.nextPlace(), notification: kept(), registration: registration,
                                question: isQuestion ? Inbox.nextPlace() : 0) : nil,
                        in: &state)
                }
                if state.beginLeftovers() { reception.step = .deliverPending }
                return reception
            }
            // What was posted before it may turn out to be what a once observer takes (R7).
            let waitsForQuestions = state.hasQuestions && registration.isOnce && !state.route.isInlineAtOnce
            if isQuestion || waitsForQuestions {
                if registration.isClaimed { return Reception() }
                return enqueue(
                    Delivery(
                        ticket: 0, notification: kept(), registration: registration, question: Inbox.nextPlace()),
                    in: &state)
            }
            guard registration.claim() else {
                // The delivery that claimed it may have been left to the next post, by a switch to the poster (D6).
                return Reception(step: state.beginLeftovers() ? .deliverPending : .none)
            }
            if state.pending.isEmpty {
                if state.route.mailbox?.isOpenInline ?? !state.isDelivering { return Reception(step: .inline) }
            }
            if state.route.isInlineAtOnce { return Reception(step: .inline) }
            return enqueue(Delivery(ticket: 0, notification: kept(), registration: registration), in: &state)
        }
        switch reception.step {
        case .none: break
        case .inline: registration.runInline(notification)
        case .schedule(let drain, let mailbox): mailbox.schedule(drain)
        case .deliverPending: deliverPending(for: registration)
        case .ask: askAboutKept()
        }
    }

    /// Puts a delivery behind what is pending.
    func enqueue(_ delivery: consuming Delivery, in state: inout State) -> Reception {
        guard let mailbox = state.route.mailbox else {
            state.pending.append(delivery)
            // Nothing waits where the poster is about to deliver all of it.
            if state.isDelivering { return Reception(released: trim(&state)) }
            state.isDelivering = true
            return Reception(step: .deliverPending)
        }
        let (ticket, drain) = mailbox.append(self)
        let isQuestion = delivery.question != 0
        delivery.ticket = ticket
        state.pending.append(delivery)
        if isQuestion { state.hasQuestions = true }
        return Reception(
            step: drain.map { .schedule($0, mailbox) } ?? .none, released: isQuestion ? [] : trim(&state))
    }

    /// Delivers what is pending, on the poster, and what joins meanwhile, or no more than a share; after `beginLeftovers`.
    func deliverPending(for registration: Registration, atMost share: Int = .max) {
        PostingThread.deliver {
            var left = share
            while let delivery = withState({ state -> Delivery? in
                let delivery = left > 0 ? state.pending.popFirst() : nil
                state.isDelivering = delivery != nil
                return delivery
            }) {
                delivery.registration.run(delivery.notification)
                left -= 1
            }
        } orAtExit: {
            self.forsake(registration)
        }
        // What joins a drain of another target just now has nobody else to deliver it.
        // Not covered: another thread switches there and back, between the deliveries and this.
        if leave(), share == .max { deliverLeftovers() }
        endIfDone(registration)
    }

    /// Delivers what was left on the poster, unless a post has begun to; at a drain's end or beginning what is there now,
    /// and has the next drain deliver what joins meanwhile: a handler that posts to itself must not starve the queue (D7).
    func deliverLeftovers(in mailbox: Mailbox? = nil) {
        let (held, registration, count) = withState { state -> (Mailbox?, Registration?, Int) in
            let held = state.leftTo.take()
            return (held, state.beginLeftovers() ? state.pending.first?.registration : nil, state.pending.count)
        }
        // Not covered: all of it, in the cases that the callers account for.
        if let registration { deliverPending(for: registration, atMost: mailbox == nil ? .max : count) }
        if let mailbox { leave(to: mailbox) }
        withExtendedLifetime(held) {}
    }

    /// Has the next drain of a mailbox deliver what is left on the poster.
    func leave(to mailbox: Mailbox) {
        let (drain, forgone) = withState { state -> (Drain?, Mailbox?) in
            guard state.hasLeftovers else { return (nil, nil) }
            let forgone = state.leftTo
            state.leftTo = mailbox
            return (mailbox.deliverLater(self), forgone)
        }
        // Not covered: see `MailboxState.deliverLater`.
        if let drain { mailbox.schedule(drain) }
        withExtendedLifetime(forgone) {}
    }

    /// Leaves to the next post what a drain would have delivered; drops it, counted, if the sender has gone, of which no
    /// post comes.
    func forgoLeftovers() {
        let (held, dropped) = withState { ($0.leftTo.take(), $0.dropIfLast()) }
        if let registration = dropped.first?.registration { endIfDone(registration) }
        withExtendedLifetime((held, dropped)) {}
    }

    /// Delivers turns of a mailbox's drain, as far as they are still ours there.
    func deliver(_ tickets: Range<UInt64>, of drain: UInt64, from mailbox: Mailbox) {
        var registration: Registration?
        var last = tickets.lowerBound
        // What is left is taken by who abandoned the drain, or ended the observer.
        while last < tickets.upperBound, !mailbox.isAbandoned(drain), registration?.hasEnded != true,
            let delivery = (registration == nil ? nil : takeInHand(tickets, from: mailbox))
                ?? begin(tickets, from: mailbox)
        {
            delivery.registration.run(delivery.notification)
            if registration == nil { registration = delivery.registration }
            last = delivery.ticket + 1
        }
        guard let registration else { return }
        let isDone = withState { state in
            state.isDelivering = false
            return state.isDone
        }
        if isDone { registration.endOrphaned() }
    }

    /// Ends the delivery of a drain in which the handler ended its thread.
    func forsake(in mailbox: Mailbox) {
        let registration = withState { state -> Registration? in
            guard state.route.mailbox === mailbox, state.isDelivering else { return nil }
            // SAFETY: the thread that exits holds it; see `called`.
            return unsafe state.called?.takeUnretainedValue()
        }
        if let registration { forsake(registration) }
    }

    /// Ends the delivery of an observer whose handler ended its thread: a once observer is used up by it (R7).
    private func forsake(_ registration: Registration) {
        let dropped = withState { state -> [Delivery] in
            state.isDelivering = false
            return state.dropIfLast()
        }
        withExtendedLifetime(dropped) {}
        // Not covered: a handler that ends its thread after another thread has switched there and back.
        if leave() { deliverLeftovers() }
        if registration.isOnce { registration.end() } else { endIfDone(registration) }
    }

    /// Takes out the delivery of a turn, if it is in hand; after `begin`.
    private func takeInHand(_ tickets: Range<UInt64>, from mailbox: Mailbox) -> Delivery? {
        guard let delivery = inHand.withLock({ $0.popLast(where: { tickets.contains($0.ticket) }) }) else { return nil }
        mailbox.finish()
        return delivery
    }

    /// Takes out the delivery of a turn, and more of what is pending in hand.
    private func begin(_ tickets: Range<UInt64>, from mailbox: Mailbox) -> Delivery? {
        var mustAsk = false
        let delivery = withState { state -> Delivery? in
            mustAsk = state.mustAsk
            if mustAsk { return nil }
            guard let delivery = state.begin(tickets, from: mailbox) else { return nil }
            // Posts count what a bounded backlog has.
            if delivery.ticket + 1 < tickets.upperBound, !state.hasQuestions, state.flow.backlog == .unbounded {
                inHand.withLock { state.pending.takeOldest(&$0) }
            }
            return delivery
        }
        if !mustAsk { return delivery }
        ask()
        return withState { $0.begin(tickets, from: mailbox) }
    }

    /// Drops turns of a mailbox whose drain will not run.
    func drop(_ tickets: Range<UInt64>, from mailbox: Mailbox) {
        while let delivery = withState({ state -> Delivery? in
            guard let delivery = state.take(tickets, from: mailbox) else { return nil }
            state.dropped += 1
            return delivery
        }) {
            // A delivery that was dropped has used a once observer up (R7).
            if delivery.registration.isOnce { delivery.registration.end() } else { endIfDone(delivery.registration) }
        }
    }

    // MARK: The target switch (D6)

    /// Delivers to another target from now on, what is pending first.
    func redirect(to route: Route) {
        // A route that comes to nothing may be the last to keep its target, which is not to go under the lock (R6).
        let (moved, forgone) = withState { state -> (Move?, Route?) in
            if state.hasEnded { return (nil, nil) }
            let forgone = state.nextRoute
            state.nextRoute = route
            return (moveUnlessDelivering(&state), forgone)
        }
        moved?.finish()
        withExtendedLifetime(forgone) {}
    }

    /// Takes the switch that was left for later, or leaves it again if a new drain has begun.
    ///
    /// True if what joined the drain is on the poster now: the caller is to see to it, because no post may come that would.
    func leave() -> Bool {
        let (moved, hasLeftovers) = withState { state -> (Move?, Bool) in
            let moved = moveUnlessDelivering(&state)
            return (moved, moved != nil && state.hasLeftovers)
        }
        moved?.finish()
        return hasLeftovers
    }

    private func moveUnlessDelivering(_ state: inout State) -> Move? {
        guard let next = state.nextRoute else { return nil }
        // A drain that is running finishes here what is pending here.
        if state.isDelivering || !state.pending.isEmpty {
            if let mailbox = state.route.mailbox {
                if mailbox.letLeave(self) { return nil }
            } else if state.isDelivering {
                return nil
            }
        }
        state.nextRoute = nil
        return move(to: next, &state)
    }

    private struct Move {
        let old: Route
        let new: Route
        let drains: [Drain]
        /// What is more than may wait on the new target.
        let dropped: [Delivery]

        func finish() {
            guard let mailbox = new.mailbox else { return }
            for drain in drains { mailbox.schedule(drain) }
        }
    }

    private func move(to new: Route, _ state: inout State) -> Move? {
        // No post of a sender that has gone would come to deliver what is pending on the poster.
        if state.isLast, new.isPoster { return nil }
        let old = state.route
        state.route = new
        var drains: [Drain] = []
        if old.mailbox !== new.mailbox {
            old.mailbox?.withdraw(state.pending.elements.map(\.ticket))
            state.pending.modifyEach { delivery in
                guard let (ticket, drain) = new.mailbox?.append(self) else { return }
                delivery.ticket = ticket
                if let drain { drains.append(drain) }
            }
        }
        return Move(old: old, new: new, drains: drains, dropped: trim(&state))
    }

    // MARK: The end

    /// Ends the observer, whose sender has gone, after what is pending (M5).
    func endAfterPending(_ registration: Registration) {
        let isLeftToPosts = withState { state in
            state.isLast = true
            return state.beginLeftovers()
        }
        if isLeftToPosts { deliverPending(for: registration) } else { endIfDone(registration) }
    }

    func endIfDone(_ registration: Registration) {
        if withState(\.isDone) { registration.endOrphaned() }
    }

    /// Takes no more; the caller releases what this returns.
    func end() -> [any Sendable] {
        withState { state in
            state.hasEnded = true
            let forgone = state.nextRoute.take()
            let deliveries = state.pending.removeAll()
            state.route.mailbox?.withdraw(deliveries.map(\.ticket))
            return [forgone, deliveries, state.takeKept(), state.leftTo.take()]
        }
    }
}

extension Notification {
    /// The notification as it may be kept: without an object that is being deinitialised (X3).
    var withoutEndingObject: Notification { hasEndingObject ? withoutObject : self }

    /// Whether its object is being deinitialised.
    ///
    /// The object is looked at in its place, where the layout of a notification is known, because to copy an `Any` costs as
    /// much as a post.
    @inline(__always)
    var hasEndingObject: Bool {
        // Not covered: the other Foundation's notification, whose layout is not known.
        guard let offset = Notification.offsetOfObject else { return hasEndingCopy }
        // SAFETY: an `Any?` is there; the pointer does not leave the closure.
        let isEnding: Bool? = unsafe withUnsafePointer(to: self) { place in
            let container = unsafe UnsafeRawPointer(place) + offset
            if unsafe Unwrapped.isNothing(at: container) { return false }
            // SAFETY: the notification holds the object.
            return unsafe Unwrapped.storedObject(at: container)?._withUnsafeGuaranteedRef { isBeingDeinitialised($0) }
        }
        return isEnding ?? hasEndingCopy
    }

    private static let offsetOfObject = MemoryLayout<Notification>.offset(of: \.object)

    @inline(never)
    private var hasEndingCopy: Bool {
        if let object, case .object(let instance) = Unwrapped(object) { isBeingDeinitialised(instance) } else { false }
    }

    var withoutObject: Notification { Notification(name: name, object: nil, userInfo: userInfo) }
}
