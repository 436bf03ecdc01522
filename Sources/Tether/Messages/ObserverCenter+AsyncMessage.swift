public import Foundation

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    /// Observes async messages about an object, until the returned token goes or is stopped.
    ///
    /// ```swift
    /// let token = center.observe(of: download, for: .didEnd) { message in await store.keep(message) }
    /// ```
    ///
    /// *Delivery*: the poster never waits. The handler runs in a task of the observer's own, for one message after the
    /// other, in posting order (T3): the next call begins when the last one has returned. What is pending when the observer
    /// ends is dropped. A plain notification of the message's name is asked, in its post, what message it makes
    /// (`BridgedAsyncMessage`).
    ///
    /// `stop()` cancels a call that is under way (P4); `await stopAndWait()` waits for it. The token's `target` cannot be
    /// switched. Complexity: O(1) amortised. Any thread.
    /// - Parameters:
    ///   - subject: The object that the messages are about. It is matched by identity and not retained: when it has ended, so
    ///     has the observer, after what is pending (M5).
    ///   - identifier: Which messages.
    ///   - once: Whether the observer ends after one message (R7). Notifications that make no message do not count.
    ///   - key: At most one live observer of this center has a given key; this one replaces it (M7).
    ///   - handler: What to run. It is released when the observer ends (R8).
    /// - Returns: The token. It is inactive if `subject` is being deinitialised.
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject, for identifier: Identifier,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            AsyncObservationRequest(Message.self, of: subject, once: once, key: key, at: fileID, line), handler)
    }

    /// Observes async messages about any subject, until the returned token goes or is stopped.
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject.Type = Message.Subject.self, for identifier: Identifier,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            AsyncObservationRequest(Message.self, of: Omitted.argument, once: once, key: key, at: fileID, line), handler
        )
    }

    /// Observes async messages about an object, given their type, until the returned token goes or is stopped.
    public func observe<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject, for type: Message.Type,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Message) async -> Void
    ) -> NotificationObserver where Message.Subject: AnyObject {
        observeMessages(
            AsyncObservationRequest(Message.self, of: subject, once: once, key: key, at: fileID, line), handler)
    }

    /// Observes async messages about any subject, given their type, until the returned token goes or is stopped.
    public func observe<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject.Type = Message.Subject.self, for type: Message.Type,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Message) async -> Void
    ) -> NotificationObserver {
        observeMessages(
            AsyncObservationRequest(Message.self, of: Omitted.argument, once: once, key: key, at: fileID, line), handler
        )
    }

    /// Observes async messages about an object, as long as another object, the owner, lives.
    ///
    /// ```swift
    /// center.observe(of: download, for: .didEnd, owner: self) { library, message in await library.add(message) }
    /// ```
    ///
    /// The owner is not retained, but from when the handler is called until it has returned (O1-O4); an owner that is not
    /// `Sendable` is handed to another thread, and the caller answers for that being right. See
    /// `observe(of:for:once:key:fileID:line:_:)`; the token need not be kept.
    @discardableResult
    public func observe<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage, Owner: AnyObject
    >(
        of subject: Message.Subject, for identifier: Identifier, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            AsyncObservationRequest(Message.self, of: subject, once: once, key: key, at: fileID, line), for: owner,
            handler)
    }

    /// Observes async messages about any subject, as long as an owner lives.
    @discardableResult
    public func observe<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage, Owner: AnyObject
    >(
        of subject: Message.Subject.Type = Message.Subject.self, for identifier: Identifier, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            AsyncObservationRequest(Message.self, of: Omitted.argument, once: once, key: key, at: fileID, line),
            for: owner, handler)
    }

    /// Observes async messages about an object, given their type, as long as an owner lives.
    @discardableResult
    public func observe<Message: NotificationCenter.AsyncMessage, Owner: AnyObject>(
        of subject: Message.Subject, for type: Message.Type, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Message) async -> Void
    ) -> NotificationObserver where Message.Subject: AnyObject {
        observeMessages(
            AsyncObservationRequest(Message.self, of: subject, once: once, key: key, at: fileID, line), for: owner,
            handler)
    }

    /// Observes async messages about any subject, given their type, as long as an owner lives.
    @discardableResult
    public func observe<Message: NotificationCenter.AsyncMessage, Owner: AnyObject>(
        of subject: Message.Subject.Type = Message.Subject.self, for type: Message.Type, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Message) async -> Void
    ) -> NotificationObserver {
        observeMessages(
            AsyncObservationRequest(Message.self, of: Omitted.argument, once: once, key: key, at: fileID, line),
            for: owner, handler)
    }
}
