internal import Foundation
internal import Synchronization

/// Where posts and an async sequence meet.
///
/// SAFETY: an element is handed from its poster to the one consumer that takes it; the rest is under the lock.
final class SequenceBuffer<Element>: RegistrationHook, @unchecked Sendable {
    private struct Handover: @unchecked Sendable { let element: Element }
    private typealias Consumer = CheckedContinuation<Handover?, Never>

    private let state: Guarded<SequenceState<Handover, Consumer>>
    private let policy: BufferingPolicy
    /// Says in words that ThreadSanitizer knows that who resumes a consumer comes before it: where the consumer was not
    /// suspended yet, the sanitizer does not see it.
    private let handovers = Atomic<UInt>(0)
    /// The conversion of a post into an element, or into none; `nil` if each post is delivered as it is.
    private let preparation: (@Sendable (Notification) -> Notification?)?

    init(_ policy: BufferingPolicy, prepare: (@Sendable (Notification) -> Notification?)? = nil) {
        state = Guarded(SequenceState(policy))
        self.policy = policy
        preparation = prepare
    }

    override var prepares: Bool { preparation != nil }

    override func prepare(_ notification: Notification, for registration: Registration) -> Notification? {
        preparation?(notification)
    }

    /// Takes what was posted.
    func offer(_ element: Element) {
        let handover = Handover(element: element)
        switch state.withLock({ $0.offer(handover) }) {
        case .handed(let consumer):
            handovers.wrappingAdd(1, ordering: .acquiringAndReleasing)
            consumer.resume(returning: handover)
        case .dropped:
            if TraceEvent.isOn {
                TraceEvent.write(.instant, "dropped", "", "because", "its buffer is full, or its sequence has finished")
            }
        case .kept: break
        }
    }

    /// The next element, in its turn; `nil` at the end.
    func next(isolation: isolated (any Actor)?) async -> Element? {
        let handover = await withCheckedContinuation { (consumer: Consumer) in
            switch state.withLock({ $0.take(for: consumer) }) {
            case .element(let handover): consumer.resume(returning: handover)
            case .end: consumer.resume(returning: nil)
            case .wait: break
            }
        }
        _ = handovers.load(ordering: .acquiring)
        return handover?.element
    }

    func finish(keepingElements: Bool = false) {
        let (consumers, elements) = state.withLock { $0.finish(keepingElements: keepingElements) }
        for consumer in consumers { consumer.resume(returning: nil) }
        withExtendedLifetime(elements) {}
    }

    /// Elements from before the sender's or the center's end are still taken; with the owner, the sequence, or by a removal
    /// they go.
    override func ended(_ registration: Registration) {
        let hasOwnerEnded = registration.owned?.record?.reference.hasEnded ?? false
        finish(keepingElements: registration.isOrphaned && !hasOwnerEnded)
    }

    override var targetDescription: String? { policy == .unbounded ? "sequence" : "sequence, \(policy)" }

    override var counts: (pending: Int, dropped: Int) { state.withLock { ($0.count, $0.dropped) } }
}
