public import Foundation

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    /// Observes async messages about an object on a target, until the returned token goes or is stopped.
    ///
    /// ```swift
    /// let token = center.observe(of: download, for: .didEnd, on: .dispatchQueue(work)) { message in … }
    /// ```
    ///
    /// *Delivery*: as `DeliveryTarget` says; `.poster` calls the handler inside the post. The target can be switched.
    /// All else is as for a handler that is async.
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject, for identifier: Identifier, on target: DeliveryTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            ObservationRequest(Message.self, of: subject, on: target, once: once, key: key, at: fileID, line), handler)
    }

    /// Observes async messages about any subject on a target, until the returned token goes or is stopped.
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject.Type = Message.Subject.self, for identifier: Identifier, on target: DeliveryTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            ObservationRequest(Message.self, of: Omitted.argument, on: target, once: once, key: key, at: fileID, line),
            handler)
    }

    /// Observes async messages about an object on a target, given their type, until the returned token goes or is stopped.
    public func observe<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject, for type: Message.Type, on target: DeliveryTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Message) -> Void
    ) -> NotificationObserver where Message.Subject: AnyObject {
        observeMessages(
            ObservationRequest(Message.self, of: subject, on: target, once: once, key: key, at: fileID, line), handler)
    }

    /// Observes async messages about any subject on a target, given their type, until the returned token goes or is stopped.
    public func observe<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject.Type = Message.Subject.self, for type: Message.Type, on target: DeliveryTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Message) -> Void
    ) -> NotificationObserver {
        observeMessages(
            ObservationRequest(Message.self, of: Omitted.argument, on: target, once: once, key: key, at: fileID, line),
            handler)
    }

    /// Observes async messages about an object on a target, as long as another object, the owner, lives.
    ///
    /// The owner is not retained, but while the handler runs, which is handed it (O1-O4). The token need not be kept.
    @discardableResult
    public func observe<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage, Owner: AnyObject
    >(
        of subject: Message.Subject, for identifier: Identifier, owner: Owner, on target: DeliveryTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            ObservationRequest(Message.self, of: subject, on: target, once: once, key: key, at: fileID, line),
            for: owner, handler)
    }

    /// Observes async messages about any subject on a target, as long as an owner lives.
    @discardableResult
    public func observe<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage, Owner: AnyObject
    >(
        of subject: Message.Subject.Type = Message.Subject.self, for identifier: Identifier, owner: Owner,
        on target: DeliveryTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            ObservationRequest(Message.self, of: Omitted.argument, on: target, once: once, key: key, at: fileID, line),
            for: owner, handler)
    }

    /// Observes async messages about an object on a target, given their type, as long as an owner lives.
    @discardableResult
    public func observe<Message: NotificationCenter.AsyncMessage, Owner: AnyObject>(
        of subject: Message.Subject, for type: Message.Type, owner: Owner, on target: DeliveryTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Message) -> Void
    ) -> NotificationObserver where Message.Subject: AnyObject {
        observeMessages(
            ObservationRequest(Message.self, of: subject, on: target, once: once, key: key, at: fileID, line),
            for: owner, handler)
    }

    /// Observes async messages about any subject on a target, given their type, as long as an owner lives.
    @discardableResult
    public func observe<Message: NotificationCenter.AsyncMessage, Owner: AnyObject>(
        of subject: Message.Subject.Type = Message.Subject.self, for type: Message.Type, owner: Owner,
        on target: DeliveryTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Message) -> Void
    ) -> NotificationObserver {
        observeMessages(
            ObservationRequest(Message.self, of: Omitted.argument, on: target, once: once, key: key, at: fileID, line),
            for: owner, handler)
    }
}
