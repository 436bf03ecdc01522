public import Foundation

// Calls that do not compile, with a sentence that names the right call. An async handler type gives the sentence for
// synchronous and async closures alike.

@_documentation(visibility: internal)
@available(
    *, unavailable, message: "leave out 'from:' to observe any sender, or pass a class instance that is not optional"
)
extension NotifyingCenter {
    public func observe(
        _ name: Notification.Name?, from sender: Any?, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        _ handler: @escaping @Sendable (Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    public func observe(
        _ name: Notification.Name?, from sender: Any?, on target: MainActorTarget, once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        _ handler: @escaping @MainActor @Sendable (Notification) -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Any?, owner: Owner, on target: DeliveryTarget = .postingThread,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        _ handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Any?, owner: Owner, on target: MainActorTarget, once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        _ handler: @escaping @MainActor @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(*, unavailable, message: "where a handler runs is 'on:', as in 'on: .operationQueue(queue)'")
extension NotifyingCenter {
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, queue: OperationQueue?,
        _ handler: @escaping @Sendable (Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner, queue: OperationQueue?,
        _ handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(*, unavailable, message: "'once:' goes before 'key:'")
extension NotifyingCenter {
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, on target: DeliveryTarget = .postingThread,
        key: (any Hashable)?, once: Bool, _ handler: @escaping @Sendable (Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        on target: DeliveryTarget = .postingThread, key: (any Hashable)?, once: Bool,
        _ handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
extension NotifyingCenter {
    @available(
        *, unavailable,
        message:
            "an owner is a class instance or an actor, and not optional; without one, leave out 'owner:' and keep the token"
    )
    @discardableResult public func observe<Owner, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        on target: DeliveryTarget = .postingThread, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded, _ handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @available(*, unavailable, message: "the sender is 'from:'; leave it out for any")
    public func observe(
        _ name: Notification.Name?, object sender: Any?, on target: DeliveryTarget = .postingThread,
        _ handler: @escaping @Sendable (Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @available(*, unavailable, message: "'owner:' goes before 'on:'") @discardableResult
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, on target: DeliveryTarget, owner: Owner,
        _ handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @available(*, unavailable, message: "a handler does not throw: write 'do { try await … } catch { … }' in it")
    @discardableResult public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        _ handler: @escaping @Sendable (Owner, Notification) async throws -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(*, unavailable, message: "write 'post(name: name, object: sender)'")
extension ObserverCenter {
    public func post(_ name: Notification.Name, from sender: Any? = nil, userInfo: [AnyHashable: Any]? = nil) {}
    public func post(name: Notification.Name, from sender: Any?, userInfo: [AnyHashable: Any]? = nil) {}
}

// Not generic over the message. Otherwise a mistyped member in a handler of messages reads 'cannot infer type'.
@_documentation(visibility: internal)
@available(*, unavailable, message: "a type of messages is given as 'for: .type(ModelDidChange.self)'")
extension ObserverCenter {
    public func observe(
        of subject: Any? = nil, for type: Any.Type, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, _ handler: @escaping @isolated(any) (Any) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject>(
        of subject: Any? = nil, for type: Any.Type, owner: Owner, on target: DeliveryTarget = .postingThread,
        once: Bool = false, key: (any Hashable)? = nil, _ handler: @escaping @isolated(any) (Owner, Any) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@_documentation(visibility: internal)
@available(*, unavailable, message: "the sender of messages is their subject, 'of:', before 'for:'")
extension ObserverCenter {
    public func observe<Message>(
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>, from subject: Any?,
        _ handler: @escaping @isolated(any) (Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Message, Owner: AnyObject>(
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>, from subject: Any?, owner: Owner,
        _ handler: @escaping @isolated(any) (Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@_documentation(visibility: internal)
@available(
    *, unavailable, message: "'of:' takes an object that the messages are about, not optional; leave it out for any"
)
extension ObserverCenter {
    public func observe<Message>(
        of subject: Any?, for identifier: NotificationCenter.BaseMessageIdentifier<Message>,
        on target: DeliveryTarget = .postingThread, once: Bool = false, key: (any Hashable)? = nil,
        _ handler: @escaping @isolated(any) (Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Message, Owner: AnyObject>(
        of subject: Any?, for identifier: NotificationCenter.BaseMessageIdentifier<Message>, owner: Owner,
        on target: DeliveryTarget = .postingThread, once: Bool = false, key: (any Hashable)? = nil,
        _ handler: @escaping @isolated(any) (Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

extension DeliveryTarget {
    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message: "a token's target is '.main'; a handler of the main actor is registered with 'on: .mainActor'"
    )
    public static var mainActor: DeliveryTarget { .main }
}
