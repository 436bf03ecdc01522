internal import Foundation

// The methods behind all calls for messages.

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    // MARK: Main-actor messages

    func observeMessages<Message: NotificationCenter.MainActorMessage>(
        _ request: ObservationRequest, _ handler: @escaping @MainActor (Message) -> Void
    ) -> NotificationObserver {
        observe(request) { notification in
            onMainActor(notification) { notification in
                if let message: Message = MessageEnvelope.message(in: notification) { handler(message) }
            }
        }
    }

    func observeMessages<Message: NotificationCenter.MainActorMessage, Owner: AnyObject>(
        _ request: ObservationRequest, for owner: Owner, _ handler: @escaping @MainActor (Owner, Message) -> Void
    ) -> NotificationObserver {
        observe(request, for: owner) { owner, notification in
            // SAFETY: the owner stays on this thread, which has the main actor for the call.
            nonisolated(unsafe) let owner = owner
            onMainActor(notification) { notification in
                if let message: Message = MessageEnvelope.message(in: notification) { unsafe handler(owner, message) }
            }
        }
    }

    // MARK: Async messages

    func observeMessages<Message: NotificationCenter.AsyncMessage>(
        _ request: ObservationRequest, _ handler: @escaping @Sendable (Message) -> Void
    ) -> NotificationObserver {
        observe(request) { notification in
            if let message: Message = MessageEnvelope.message(in: notification) { handler(message) }
        }
    }

    func observeMessages<Message: NotificationCenter.AsyncMessage, Owner: AnyObject>(
        _ request: ObservationRequest, for owner: Owner, _ handler: @escaping @Sendable (Owner, Message) -> Void
    ) -> NotificationObserver {
        observe(request, for: owner) { owner, notification in
            if let message: Message = MessageEnvelope.message(in: notification) { handler(owner, message) }
        }
    }

    // MARK: Async messages for async handlers

    func observeMessages<Message: NotificationCenter.AsyncMessage>(
        _ request: AsyncObservationRequest, _ handler: @escaping @Sendable @isolated(any) (Message) async -> Void
    ) -> NotificationObserver {
        let hook = request.hook(on: handler.isolation)
        return observe(request.request) { notification in
            if let message: Message = MessageEnvelope.message(in: notification) {
                hook.call { _ in await handler(message) }
            }
        }
    }

    func observeMessages<Message: NotificationCenter.AsyncMessage, Owner: AnyObject>(
        _ request: AsyncObservationRequest, for owner: Owner,
        _ handler: @escaping @Sendable @isolated(any) (Owner, Message) async -> Void
    ) -> NotificationObserver {
        let hook = request.hook(on: handler.isolation)
        return observe(request.request, for: owner) { owner, notification in
            // SAFETY: handed to the handler's task, as to the thread of any other target: the caller answers for that.
            nonisolated(unsafe) let owner = owner
            if let message: Message = MessageEnvelope.message(in: notification) {
                hook.call { _ in unsafe await handler(owner, message) }
            }
        }
    }
}

// MARK: Requests

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObservationRequest {
    /// Main-actor messages, delivered at once where they are posted (T3).
    init<Message: NotificationCenter.MainActorMessage, Subject: AnyObject>(
        _ type: Message.Type, of subject: Subject, once: Bool, key: (any Hashable)?, at file: StaticString,
        _ line: UInt, call: StaticString = #function
    ) {
        self.init(
            MessageNames.name(of: type), from: subject, on: DeliveryTarget(kind: .mainAtOnce), isIsolated: true,
            once: once, key: key, at: file, line, call: call)
        add(MainActorMessageHook<Message>())
    }

    /// Async messages, delivered to a target.
    init<Message: NotificationCenter.AsyncMessage, Subject: AnyObject>(
        _ type: Message.Type, of subject: Subject, on target: DeliveryTarget, isIsolated: Bool = false, once: Bool,
        key: (any Hashable)?, at file: StaticString, _ line: UInt, call: StaticString = #function
    ) {
        self.init(
            MessageNames.name(of: type), from: subject, on: target, isIsolated: isIsolated, once: once, key: key,
            at: file, line, call: call)
        add(AsyncMessageHook<Message>())
    }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension AsyncObservationRequest {
    /// Async messages, delivered to an async handler.
    init<Message: NotificationCenter.AsyncMessage, Subject: AnyObject>(
        _ type: Message.Type, of subject: Subject, once: Bool, key: (any Hashable)?, at file: StaticString,
        _ line: UInt, call: StaticString = #function
    ) {
        self.init {
            ObservationRequest(
                type, of: subject, on: $0, isIsolated: true, once: once, key: key, at: file, line, call: call)
        }
    }
}
