internal import Foundation
internal import Synchronization

// One iteration of a sequence: where posts leave notifications, and a task takes them.
//
// A buffer holds plain notifications for every type of elements. Nothing specialises code that is generic over the element. The iterator converts a notification after it took it.
//
// A buffer is in one of three states:
//
//     posts are ahead     some notifications, nobody waits    offer: appends, or drops by the policy   take: removes the oldest
//     the task is ahead   no notification, somebody waits     offer: resumes the oldest of them        take: waits behind them
//     finished            notifications that may be taken     offer: drops                             take: removes, then `nil`
//
// `finish` leads to the last one, and resumes every waiting task with `nil`.
//
// A value costs one lock for the post, one for the task, and the suspension of the task where that is ahead.

/// The notifications of one iteration that were posted and have not been taken, or the tasks that wait for one.
///
/// A value. Its methods return the work that is to be done without the lock that protects it.
struct SequenceState<Element, Consumer> {
    private let policy: BufferingPolicy
    private var elements = FIFO<Element>()
    /// Empty unless `elements` is. There are several only where tasks share copies of an iterator.
    private var consumers = FIFO<Consumer>()
    private(set) var dropped = 0
    private(set) var isFinished = false

    init(_ policy: BufferingPolicy) {
        self.policy = policy
    }

    var count: Int { elements.count }

    enum Offer {
        case kept
        /// The consumer is to be resumed with the element.
        case handed(to: Consumer)
        /// To be released, with no lock held.
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

    /// Takes the oldest element, or the end, which is `.some(nil)`. Otherwise it returns `nil`, and the consumer waits, if
    /// one is given.
    mutating func take(for consumer: Consumer? = nil) -> Element?? {
        if let element = elements.popFirst() { return element }
        if isFinished { return .some(nil) }
        if let consumer { consumers.append(consumer) }
        return nil
    }

    /// Finishes. The consumers are to be resumed with the end, and the elements to be released, with no lock held.
    mutating func finish(keepingElements: Bool) -> (consumers: [Consumer], elements: [Element]) {
        isFinished = true
        return (consumers.removeAll(), keepingElements ? [] : elements.removeAll())
    }
}

/// The buffer of one iteration, as its observer's registration has it.
///
/// SAFETY: `state` is protected by its lock, all else never changes. A notification passes from its posting thread to the one
/// task that takes it; the user answers for its content, as on any queue.
@safe final class SequenceBuffer: RegistrationHook, @unchecked Sendable {
    private struct Handover: @unchecked Sendable { let notification: Notification }

    /// A task that waits.
    ///
    /// SAFETY: resumed once, by the thread that removed it from the state.
    @safe private struct Consumer: Sendable {
        private let continuation: UnsafeContinuation<Handover?, Never>

        init(_ continuation: UnsafeContinuation<Handover?, Never>) { unsafe self.continuation = continuation }

        func resume(returning handover: Handover?) { unsafe continuation.resume(returning: handover) }
    }

    private let state: Guarded<SequenceState<Handover, Consumer>>
    private let policy: BufferingPolicy
    /// Repeats for ThreadSanitizer that the resumption of a task happens before the task continues. The sanitizer does
    /// not see that where the task had not been suspended yet.
    private let handovers = Atomic<UInt>(0)
    /// The conversion of a post, on the posting thread, into a notification that is kept, or into none.
    private let preparation: SequenceSource.Preparation?

    init(_ policy: BufferingPolicy, prepare: SequenceSource.Preparation?) {
        state = Guarded(SequenceState(policy))
        self.policy = policy
        preparation = prepare
    }

    // MARK: Posting threads

    override var prepares: Bool { preparation != nil }

    override func prepare(_ notification: Notification, for registration: Registration) -> Notification? {
        preparation?(notification)
    }

    /// Takes a notification that was posted.
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

    /// The next notification, in its turn; `nil` at the end.
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

    /// Notifications that were posted before the sender's or the center's end are still taken. With the owner, the iteration
    /// or a removal they are released.
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

/// One iteration: an observer and its buffer, which live as long as its iterator.
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
