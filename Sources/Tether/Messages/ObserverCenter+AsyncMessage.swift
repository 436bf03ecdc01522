public import Foundation

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    // MARK: With an async handler

    /// Observes async messages, until the returned token goes or is stopped.
    ///
    /// ```swift
    /// let token = center.observe(of: download, for: .didEnd) {
    ///     message in await store.keep(message)
    /// }
    /// ```
    ///
    /// *Delivery*: the poster never waits. The handler runs in a task of the observer's own, for one message after the
    /// other, in posting order ([T3](doc:Contract#T3)): the next call begins when the last one has returned. What is
    /// pending when the observer ends is dropped. A plain notification of the message's name is asked, in its post,
    /// what message it makes (`BridgedAsyncMessage`).
    ///
    /// `stop()` cancels a call that is under way ([P4](doc:Contract#P4)); `await stopAndWait()` waits for it. The
    /// token's `target` cannot be switched. Complexity: O(1) amortised. Any thread.
    /// - Parameters:
    ///   - subject: The object that the messages are about. It is matched by identity and not retained: when it has ended, so
    ///     has the observer, after what is pending ([M5](doc:Contract#M5)). Leave it out for any subject.
    ///   - identifier: Which messages: an identifier of theirs, or `.type(DownloadDidEnd.self)`.
    ///   - once: Whether the observer ends after one message ([R7](doc:Contract#R7)). Notifications that make no
    ///     message do not count.
    ///   - key: At most one live observer of this center has a given key; this one replaces it ([M7](doc:Contract#M7)).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run. It is released when the observer ends ([R8](doc:Contract#R8)).
    /// - Returns: The token. It is inactive if `subject` is being deinitialised.
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable @isolated(any) (Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            AsyncObservationRequest(
                Message.self, of: AnySubject.sender(subject), once: once, key: key, at: fileID, line), handler)
    }

    /// Observes async messages as long as an object, the owner, lives.
    ///
    /// ```swift
    /// center.observe(of: download, for: .didEnd, owner: library) {
    ///     library, message in
    ///     await library.add(message)
    /// }
    /// ```
    ///
    /// The owner is not retained, but from when the handler is called until it has returned
    /// ([O1](doc:Contract#O1)-[O4](doc:Contract#O4), [O9](doc:Contract#O9)); an owner that is not `Sendable` is handed to
    /// another thread, and the caller answers for that being right. The token need not be kept. All else is as without an
    /// owner.
    /// - Parameters:
    ///   - subject: The object that the messages are about, matched by identity and not retained
    ///     ([M5](doc:Contract#M5)). Leave it out for any subject.
    ///   - identifier: Which messages: an identifier of theirs, or `.type(…)`.
    ///   - owner: The object whose life bounds the observer, which is not retained.
    ///   - once: Whether the observer ends after one message ([R7](doc:Contract#R7)). Notifications that make no
    ///     message do not count.
    ///   - key: At most one live observer of this owner on this center has a given key; this one replaces it
    ///     ([M7](doc:Contract#M7)).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run, in a task of the observer's own, with the owner and the message. It is released when
    ///     the observer ends ([R8](doc:Contract#R8)).
    @discardableResult
    public func observe<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage, Owner: AnyObject
    >(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, owner: Owner, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable @isolated(any) (Owner, Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            AsyncObservationRequest(
                Message.self, of: AnySubject.sender(subject), once: once, key: key, at: fileID, line),
            for: owner, handler)
    }

    // MARK: On a target

    /// Observes async messages on a target, until the returned token goes or is stopped.
    ///
    /// ```swift
    /// let token = center.observe(
    ///     of: download, for: .didEnd, on: .dispatchQueue(work)
    /// ) { message in
    ///     …
    /// }
    /// ```
    ///
    /// *Delivery*: as `DeliveryTarget` says; `.poster` calls the handler inside the post. The target can be switched.
    /// All else is as for a handler that is async.
    /// - Parameters:
    ///   - subject: The object that the messages are about, matched by identity and not retained
    ///     ([M5](doc:Contract#M5)). Leave it out for any subject.
    ///   - identifier: Which messages: an identifier of theirs, or `.type(…)`.
    ///   - target: Where the handler runs; `.poster` is inside the post.
    ///   - once: Whether the observer ends after one message ([R7](doc:Contract#R7)). Notifications that make no
    ///     message do not count.
    ///   - key: At most one live observer of this center has a given key; this one replaces it ([M7](doc:Contract#M7)).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run. It is released when the observer ends ([R8](doc:Contract#R8)).
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, on target: DeliveryTarget, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            ObservationRequest(
                Message.self, of: AnySubject.sender(subject), on: target, once: once, key: key, at: fileID, line),
            handler)
    }

    /// Observes async messages on a target as long as an object, the owner, lives.
    ///
    /// The owner is not retained, but while the handler runs, which is handed it
    /// ([O1](doc:Contract#O1)-[O4](doc:Contract#O4)). The token need not be kept.
    /// - Parameters:
    ///   - subject: The object that the messages are about, matched by identity and not retained
    ///     ([M5](doc:Contract#M5)). Leave it out for any subject.
    ///   - identifier: Which messages: an identifier of theirs, or `.type(…)`.
    ///   - owner: The object whose life bounds the observer, which is not retained.
    ///   - target: Where the handler runs; `.poster` is inside the post.
    ///   - once: Whether the observer ends after one message ([R7](doc:Contract#R7)). Notifications that make no
    ///     message do not count.
    ///   - key: At most one live observer of this owner on this center has a given key; this one replaces it
    ///     ([M7](doc:Contract#M7)).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run, with the owner and the message. It is released when the observer ends
    ///     ([R8](doc:Contract#R8)).
    @discardableResult
    public func observe<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage, Owner: AnyObject
    >(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, owner: Owner, on target: DeliveryTarget, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            ObservationRequest(
                Message.self, of: AnySubject.sender(subject), on: target, once: once, key: key, at: fileID, line),
            for: owner, handler)
    }
}
