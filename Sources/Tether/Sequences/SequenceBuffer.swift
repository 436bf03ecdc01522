internal import Foundation
internal import Synchronization

// One iteration of a sequence: posts append notifications, and a task takes notifications.
//
// A buffer holds plain notifications, because nothing specialises code generic over the element. A
// buffer is in one of three states:
//
//     Posts are ahead    Notifications, no waiting task.  `offer` appends or drops.         `take` removes the oldest.
//     The task is ahead  Waiting tasks alone.             `offer` resumes the oldest task.  `take` waits behind them.
//     Finished           Remaining notifications.         `offer` drops.                    `take` removes, then `nil`.
//
// `finish` leads to the last state, and resumes every waiting task with `nil`.

/// The buffer of one iteration, as the hook of the observer's registration.
///
/// SAFETY: `state` is protected by its lock; the other properties never change. A notification
/// passes from the posting thread to the one task that takes the notification. The user answers for
/// the content, as on any queue.
@safe final class SequenceBuffer: RegistrationHook, @unchecked Sendable {
    struct Handover: @unchecked Sendable { let notification: Notification }

    /// A waiting task.
    ///
    /// SAFETY: resumed once, by the thread that removed the consumer from the state.
    @safe struct Consumer: Sendable {
        let continuation: UnsafeContinuation<Handover?, Never>
    }

    struct State {
        var elements = FIFO<Handover>()
        /// Empty unless `elements` is empty. Several consumers wait only where tasks share copies
        /// of an iterator.
        var consumers = FIFO<Consumer>()
        var drops = DropCounts()
        var isFinished = false
        /// The loop of an owner that iterates, if there is one.
        var reader: Unowned<Registration>?

        /// Returns the tasks that wait, for their end.
        mutating func finish() -> [Consumer] {
            isFinished = true
            return consumers.removeAll()
        }

        /// Checks, in debug builds, that the state is one of the three at the head of this file.
        func checkInvariants(_ policy: BufferingPolicy) {
            #if DEBUG
            let isAhead = consumers.isEmpty || elements.isEmpty
            assert(isAhead, "Tasks wait at a sequence that has notifications.")
            assert(consumers.isEmpty || !isFinished, "Tasks wait at a sequence that has finished.")
            assert(
                elements.count <= policy.limit, "A sequence has more notifications than its limit.")
            #endif
        }
    }

    private let state = Locked(State())
    private let policy: BufferingPolicy
    /// Shows ThreadSanitizer that the resumption of a task happens before the task continues. The
    /// sanitizer misses the order if the task had not been suspended yet.
    private let handovers = Atomic<UInt>(0)

    init(_ policy: BufferingPolicy) { self.policy = policy }

    // MARK: Posting threads

    /// Takes a posted notification. Resumes a task, or releases a dropped notification, with no
    /// lock held.
    func offer(_ notification: Notification) {
        let handover = Handover(notification: notification)
        let (consumer, dropped) = state.withLock {
            state -> (Consumer?, (Handover, because: DropReason)?) in
            defer { state.checkInvariants(policy) }
            if state.isFinished { return (nil, (handover, .observerEnded)) }
            if let consumer = state.consumers.popFirst() { return (consumer, nil) }
            guard
                let dropped = state.elements.append(
                    handover, limit: policy.limit, keepsOldest: policy.keepsOldest)
            else { return (nil, nil) }
            state.drops.add(because: .bufferIsFull)
            return (nil, (dropped, .bufferIsFull))
        }
        if let consumer {
            handovers.wrappingAdd(1, ordering: .acquiringAndReleasing)
            unsafe consumer.continuation.resume(returning: handover)
        }
        if let dropped { Events.report(.dropped(dropped.because, of: nil, at: nil)) }
    }

    // MARK: The iterating task

    /// The next notification, in posting order; `nil` at the end.
    func next(isolation: isolated (any Actor)?) async -> Notification? {
        switch take() {
        case .element(let handover): return handover.notification
        case .end: return nil
        case .nothingYet: break
        }
        let handover = await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { continuation in
                switch take(for: unsafe Consumer(continuation: continuation)) {
                case .element(let handover): unsafe continuation.resume(returning: handover)
                case .end: unsafe continuation.resume(returning: nil)
                case .nothingYet: break
                }
            }
        } onCancel: {
            // The canceller holds a lock of the runtime, so the task itself releases the elements.
            finish()
        }
        _ = handovers.load(ordering: .acquiring)
        return handover?.notification
    }

    private enum Taken {
        case element(Handover)
        case end
        case nothingYet
    }

    /// Takes the oldest element, or the end. If there is nothing yet, a given consumer waits.
    private func take(for consumer: Consumer? = nil) -> Taken {
        state.withLock { state -> Taken in
            defer { state.checkInvariants(policy) }
            if let element = state.elements.popFirst() { return .element(element) }
            if state.isFinished { return .end }
            if let consumer { state.consumers.append(consumer) }
            return .nothingYet
        }
    }

    // MARK: The end

    /// Ends the sequence behind the notifications in the buffer, which are still taken.
    func finish() {
        let consumers = state.withLock { state in
            defer { state.checkInvariants(policy) }
            return state.finish()
        }
        SequenceBuffer.end(consumers)
    }

    /// Ends the sequence now, and releases the notifications in the buffer.
    func discard() {
        let (consumers, released) = state.withLock { state in
            defer { state.checkInvariants(policy) }
            return (state.finish(), state.elements.removeAll())
        }
        SequenceBuffer.end(consumers)
        withExtendedLifetime(released) {}
    }

    private static func end(_ consumers: [Consumer]) {
        for consumer in consumers { unsafe consumer.continuation.resume(returning: nil) }
    }

    /// The end of the sender or the center, and `finish()`, leave earlier notifications in the
    /// buffer, unless the owner has ended, too. The end of the owner, of the iteration, or a
    /// removal releases the notifications.
    override func ended(_ registration: Registration, because cause: EndCause) {
        let hasOwnerEnded = registration.owned?.record?.reference.hasEnded ?? false
        switch cause {
        case .senderEnded, .centerEnded, .finished:
            if hasOwnerEnded { discard() } else { finish() }
        case .stopped, .usedUp, .returned, .deliveryDropped, .ownerEnded:
            discard()
        }
    }

    // MARK: The audit

    /// The number of notifications dropped by the policy.
    var droppedCount: Int { state.withLock(\.drops.total) }

    override var targetDescription: String? {
        policy == .unbounded ? "sequence" : "sequence, \(policy)"
    }

    override var reader: Unowned<Registration>? { state.withLock(\.reader) }

    func setReader(_ loop: Unowned<Registration>) { state.withLock { $0.reader = loop } }

    override var counts: Counts {
        state.withLock { ($0.elements.count, $0.drops) }
    }
}

/// One iteration: an observer and its buffer, which live as long as the iterator.
final class SequenceIteration: Sendable {
    private let buffer: SequenceBuffer
    private let observer: NotificationObserver

    init(_ buffer: SequenceBuffer, _ observer: NotificationObserver) {
        self.buffer = buffer
        self.observer = observer
        // An owner or a sender that was being deinitialised has registered nothing (O8, M5).
        if !observer.isActive { buffer.finish() }
    }

    deinit { cancel() }

    var droppedCount: Int { buffer.droppedCount }

    /// Notes that a loop of an owner iterates.
    func isRead(by loop: LoopProgress) {
        buffer.setReader(loop.loop)
        if let reference = observer.reference { loop.note(reference) }
    }

    private func cancel() {
        observer.cancel()
        buffer.discard()
    }

    func next(isolation: isolated (any Actor)?) async -> Notification? {
        if Task.isCancelled { cancel() }
        let notification = await buffer.next(isolation: isolation)
        if Task.isCancelled { cancel() }
        return notification
    }
}
