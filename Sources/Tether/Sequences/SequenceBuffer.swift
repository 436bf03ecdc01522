internal import Foundation
internal import Synchronization

// One iteration of a sequence: posts append notifications, and a task takes notifications.
//
// A buffer holds plain notifications, because nothing specialises code generic over the element. The iterator converts.
//
// A buffer is in one of three states:
//
//     Posts are ahead    Notifications, no waiting task.  `offer` appends or drops.         `take` removes the oldest.
//     The task is ahead  Waiting tasks alone.             `offer` resumes the oldest task.  `take` waits behind them.
//     Finished           Remaining notifications.         `offer` drops.                    `take` removes, then `nil`.
//
// `finish` leads to the last state, and resumes every waiting task with `nil`.
//
// A value costs one lock for the post, one for the task, and the suspension of a task that is ahead.

/// The posted notifications of one iteration that no task has taken, or the tasks that wait for a notification.
///
/// A value. The methods return the work to do after the lock around the state is released.
struct SequenceState<Element, Consumer> {
    private let policy: BufferingPolicy
    private var elements = FIFO<Element>()
    /// Empty unless `elements` is empty. Several consumers wait only where tasks share copies of an iterator.
    private var consumers = FIFO<Consumer>()
    private(set) var dropped = 0
    private(set) var isFinished = false

    init(_ policy: BufferingPolicy) {
        self.policy = policy
    }

    var count: Int { elements.count }

    enum Offer {
        case kept
        /// The caller resumes the consumer with the element.
        case handed(to: Consumer)
        /// The caller releases the element, with no lock held.
        case dropped(Element)
    }

    mutating func offer(_ element: Element) -> Offer {
        if isFinished { return .dropped(element) }
        if let consumer = consumers.popFirst() { return .handed(to: consumer) }
        if policy.keepsOldest, elements.count == policy.limit {
            dropped += 1
            return .dropped(element)
        }
        elements.append(element)
        guard elements.count > policy.limit, let oldest = elements.popFirst() else { return .kept }
        dropped += 1
        return .dropped(oldest)
    }

    /// Takes the oldest element, or the end, `.some(nil)`. Otherwise returns `nil`, and a given consumer waits.
    mutating func take(for consumer: Consumer? = nil) -> Element?? {
        if let element = elements.popFirst() { return element }
        if isFinished { return .some(nil) }
        if let consumer { consumers.append(consumer) }
        return nil
    }

    /// Finishes. With no lock held, the caller resumes the consumers with the end, and releases the elements.
    mutating func finish(keepingElements: Bool) -> (consumers: [Consumer], elements: [Element]) {
        isFinished = true
        return (consumers.removeAll(), keepingElements ? [] : elements.removeAll())
    }
}

/// The buffer of one iteration, as the hook of the observer's registration.
///
/// SAFETY: `state` is protected by its lock; the other properties never change. A notification passes from the posting
/// thread to the one task that takes the notification. The user answers for the content, as on any queue.
@safe final class SequenceBuffer: RegistrationHook, @unchecked Sendable {
    private struct Handover: @unchecked Sendable { let notification: Notification }

    /// A waiting task.
    ///
    /// SAFETY: resumed once, by the thread that removed the consumer from the state.
    @safe private struct Consumer: Sendable {
        private let continuation: UnsafeContinuation<Handover?, Never>

        init(_ continuation: UnsafeContinuation<Handover?, Never>) { unsafe self.continuation = continuation }

        func resume(returning handover: Handover?) { unsafe continuation.resume(returning: handover) }
    }

    private let state: Locked<SequenceState<Handover, Consumer>>
    private let policy: BufferingPolicy
    /// Shows ThreadSanitizer that the resumption of a task happens before the task continues. The sanitizer misses the
    /// order if the task had not been suspended yet.
    private let handovers = Atomic<UInt>(0)
    /// Converts a post, on the posting thread, into a notification to keep, or into none.
    private let preparation: SequenceSource.Preparation?

    init(_ policy: BufferingPolicy, prepare: SequenceSource.Preparation?) {
        state = Locked(SequenceState(policy))
        self.policy = policy
        preparation = prepare
    }

    // MARK: Posting threads

    override var prepares: Bool { preparation != nil }

    override func prepare(_ notification: Notification, for registration: Registration) -> Notification? {
        preparation?(notification)
    }

    /// Takes a posted notification.
    func offer(_ notification: Notification) {
        let handover = Handover(notification: notification)
        switch state.withLock({ ($0.offer(handover), $0.isFinished) }) {
        case (.handed(let consumer), _):
            handovers.wrappingAdd(1, ordering: .acquiringAndReleasing)
            consumer.resume(returning: handover)
        case (.dropped, let isFinished):
            if Events.areTraced {
                Events.report(.dropped(nil, because: isFinished ? .observerEnded : .bufferIsFull, at: nil))
            }
        case (.kept, _): break
        }
    }

    // MARK: The iterating task

    /// The next notification, in posting order; `nil` at the end.
    func next(isolation: isolated (any Actor)?) async -> Notification? {
        if let taken = state.withLock({ $0.take() }) { return taken?.notification }
        let handover = await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { continuation in
                let consumer = unsafe Consumer(continuation)
                if let taken = state.withLock({ $0.take(for: consumer) }) {
                    consumer.resume(returning: taken)
                }
            }
        } onCancel: {
            // The canceller holds a lock of the runtime, so the task itself releases the elements.
            finish(keepingElements: true)
        }
        _ = handovers.load(ordering: .acquiring)
        return handover?.notification
    }

    // MARK: The end

    func finish(keepingElements: Bool = false) {
        let (consumers, elements) = state.withLock { $0.finish(keepingElements: keepingElements) }
        for consumer in consumers { consumer.resume(returning: nil) }
        withExtendedLifetime(elements) {}
    }

    /// The end of the sender or the center leaves earlier notifications in the buffer. The end of the owner, of the
    /// iteration, or a removal releases the notifications.
    override func ended(_ registration: Registration) {
        let hasOwnerEnded = registration.owned?.record?.reference.hasEnded ?? false
        finish(keepingElements: registration.isOrphaned && !hasOwnerEnded)
    }

    // MARK: The audit

    override var targetDescription: String? { policy == .unbounded ? "sequence" : "sequence, \(policy)" }

    override var counts: Counts {
        state.withLock { ($0.count, $0.dropped > 0 ? [.bufferIsFull: $0.dropped] : [:]) }
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
        if !observer.isActive { buffer.finish(keepingElements: true) }
    }

    deinit { cancel() }

    private func cancel() {
        observer.cancel()
        buffer.finish()
    }

    func next(isolation: isolated (any Actor)?) async -> Notification? {
        if Task.isCancelled { cancel() }
        let notification = await buffer.next(isolation: isolation)
        if Task.isCancelled { cancel() }
        return notification
    }
}
