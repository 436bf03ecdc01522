public import Foundation

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    /// Observes main-actor messages about an object, until the returned token goes or is stopped.
    ///
    /// ```swift
    /// let token = center.observe(of: model, for: .didChange) { message in … }
    /// ```
    ///
    /// *Delivery*: on the main actor. A message is posted there, so the handler has run when the post returns, whatever else
    /// is pending on the main queue (T3). A plain notification of the message's name is asked what message it makes
    /// (`BridgedMainActorMessage`); one that was posted elsewhere is delivered on the main actor later.
    ///
    /// The token's `target` cannot be switched. Complexity: O(1) amortised. Any thread.
    /// - Parameters:
    ///   - subject: The object that the messages are about. It is matched by identity and not retained: when it has ended, so
    ///     has the observer (M5).
    ///   - identifier: Which messages.
    ///   - once: Whether the observer ends after it has run once (R7). Notifications that make no message do not count.
    ///   - key: At most one live observer of this center has a given key; this one replaces it (M7).
    ///   - handler: What to run. It is released when the observer ends (R8).
    /// - Returns: The token. It is inactive if `subject` is being deinitialised.
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.MainActorMessage>(
        of subject: Message.Subject, for identifier: Identifier,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor (Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            ObservationRequest(Message.self, of: subject, once: once, key: key, at: fileID, line), handler)
    }

    /// Observes main-actor messages about any subject, until the returned token goes or is stopped.
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.MainActorMessage>(
        of subject: Message.Subject.Type = Message.Subject.self, for identifier: Identifier,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor (Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            ObservationRequest(Message.self, of: Omitted.argument, once: once, key: key, at: fileID, line), handler)
    }

    /// Observes main-actor messages about an object, given their type, until the returned token goes or is stopped.
    public func observe<Message: NotificationCenter.MainActorMessage>(
        of subject: Message.Subject, for type: Message.Type,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor (Message) -> Void
    ) -> NotificationObserver where Message.Subject: AnyObject {
        observeMessages(
            ObservationRequest(Message.self, of: subject, once: once, key: key, at: fileID, line), handler)
    }

    /// Observes main-actor messages about any subject, given their type, until the returned token goes or is stopped.
    public func observe<Message: NotificationCenter.MainActorMessage>(
        of subject: Message.Subject.Type = Message.Subject.self, for type: Message.Type,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor (Message) -> Void
    ) -> NotificationObserver {
        observeMessages(
            ObservationRequest(Message.self, of: Omitted.argument, once: once, key: key, at: fileID, line), handler)
    }

    /// Observes main-actor messages about an object, as long as another object, the owner, lives.
    ///
    /// ```swift
    /// center.observe(of: model, for: .didChange, owner: self) { sidebar, message in sidebar.show(message) }
    /// ```
    ///
    /// The owner is not retained, but while the handler runs, which is handed it (O1-O4). See
    /// `observe(of:for:once:key:fileID:line:_:)`; the token need not be kept.
    @discardableResult
    public func observe<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.MainActorMessage, Owner: AnyObject
    >(
        of subject: Message.Subject, for identifier: Identifier, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor (Owner, Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            ObservationRequest(Message.self, of: subject, once: once, key: key, at: fileID, line), for: owner, handler)
    }

    /// Observes main-actor messages about any subject, as long as an owner lives.
    @discardableResult
    public func observe<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.MainActorMessage, Owner: AnyObject
    >(
        of subject: Message.Subject.Type = Message.Subject.self, for identifier: Identifier, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor (Owner, Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            ObservationRequest(Message.self, of: Omitted.argument, once: once, key: key, at: fileID, line), for: owner,
            handler)
    }

    /// Observes main-actor messages about an object, given their type, as long as an owner lives.
    @discardableResult
    public func observe<Message: NotificationCenter.MainActorMessage, Owner: AnyObject>(
        of subject: Message.Subject, for type: Message.Type, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor (Owner, Message) -> Void
    ) -> NotificationObserver where Message.Subject: AnyObject {
        observeMessages(
            ObservationRequest(Message.self, of: subject, once: once, key: key, at: fileID, line), for: owner, handler)
    }

    /// Observes main-actor messages about any subject, given their type, as long as an owner lives.
    @discardableResult
    public func observe<Message: NotificationCenter.MainActorMessage, Owner: AnyObject>(
        of subject: Message.Subject.Type = Message.Subject.self, for type: Message.Type, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor (Owner, Message) -> Void
    ) -> NotificationObserver {
        observeMessages(
            ObservationRequest(Message.self, of: Omitted.argument, once: once, key: key, at: fileID, line), for: owner,
            handler)
    }
}
