#if canImport(Combine)

public import Combine
public import Foundation

// Tokens and publishers for programs that use Combine, on Apple platforms.

/// A token can be stored among an object's subscriptions, with `store(in:)`.
extension NotificationObserver: Cancellable {}

extension ObserverCenter {
    /// A publisher of the notifications of a name and a sender, with Foundation's call.
    ///
    /// ```
    /// center.publisher(for: .modelDidChange, object: model)
    ///     .debounce(for: .seconds(1), scheduler: RunLoop.main)
    ///     .sink { note in … }
    ///     .store(in: &subscriptions)
    /// ```
    ///
    /// Each subscription is an observer on the posting thread, and ends when cancelled. Notifications without a demand
    /// are dropped, as by Foundation's publisher.
    /// - Parameters:
    ///   - name: The name to observe.
    ///   - object: The sender to observe, which the publisher retains and a subscription does not; `nil` for any.
    public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> Publisher {
        Publisher(center: self, name: name, object: object)
    }

    /// A publisher of notifications.
    public struct Publisher: Combine.Publisher {
        public typealias Output = Notification
        public typealias Failure = Never

        /// The observed center.
        public let center: ObserverCenter
        /// The observed name.
        public let name: Notification.Name
        /// The observed sender; `nil` for any.
        public let object: AnyObject?

        /// Begins an observer for a subscriber.
        public func receive<Receiver: Subscriber>(subscriber: Receiver)
        where Receiver.Input == Notification, Receiver.Failure == Never {
            let subscription = NotificationSubscription { subscriber.receive($0) }
            subscriber.receive(subscription: subscription)
            subscription.observe(center, name, SenderFilter(any: object, call: "ObserverCenter.publisher(for:object:)"))
        }
    }
}

/// A subscriber, its demand, and its observer.
///
/// SAFETY: the lock protects all state; the posting thread calls the subscriber, as Foundation's publisher does.
private final class NotificationSubscription: Subscription, @unchecked Sendable {
    private struct State: @unchecked Sendable {
        /// Passes a notification to the subscriber; `nil` after the subscription was cancelled.
        var deliver: ((Notification) -> Subscribers.Demand)?
        var demand = Subscribers.Demand.none
        var token: NotificationObserver?
    }

    private let state: Locked<State>

    init(_ deliver: @escaping (Notification) -> Subscribers.Demand) { state = Locked(State(deliver: deliver)) }

    func observe(_ center: ObserverCenter, _ name: Notification.Name, _ sender: SenderFilter) {
        let request = ObservationRequest(
            name: name, sender: sender, target: .postingThread, site: RegistrationSite(file: #fileID, line: #line))
        let token = center.observe(request) { self.receive($0) }
        let isCancelled = state.withLock { state in
            state.token = token
            return state.deliver == nil
        }
        if isCancelled { token.cancel() }
    }

    private func receive(_ notification: Notification) {
        let found = state.withLock { state -> State? in
            guard state.demand > 0 else { return nil }
            state.demand -= 1
            return state
        }
        if let deliver = found?.deliver { request(deliver(notification)) }
    }

    func request(_ demand: Subscribers.Demand) { state.withLock { $0.demand += demand } }

    func cancel() {
        let ended = state.withLock { state in
            let ended = state
            state = State()
            return ended
        }
        ended.token?.cancel()
    }
}

#endif
