public import Foundation

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    /// Observes main-actor messages, until the returned token goes or is stopped.
    ///
    /// ```swift
    /// let token = center.observe(of: model, for: .didChange) {
    ///     message in …
    /// }
    /// ```
    ///
    /// *Delivery*: on the main actor. A message is posted there, so the handler has run when the post returns, whatever else
    /// is pending on the main queue ([T3](doc:Contract#T3)). A plain notification of the message's name is asked what
    /// message it makes (`BridgedMainActorMessage`); one that was posted elsewhere is delivered on the main actor
    /// later.
    ///
    /// The token's `target` cannot be switched. Complexity: O(1) amortised. Any thread.
    /// - Parameters:
    ///   - subject: The object that the messages are about. It is matched by identity and not retained: when it has ended, so
    ///     has the observer ([M5](doc:Contract#M5)). Leave it out for any subject.
    ///   - identifier: Which messages: an identifier of theirs, or `.type(ModelDidChange.self)`.
    ///   - once: Whether the observer ends after it has run once ([R7](doc:Contract#R7)). Notifications that make no
    ///     message do not count.
    ///   - key: At most one live observer of this center has a given key; this one replaces it ([M7](doc:Contract#M7)).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run. It is released when the observer ends ([R8](doc:Contract#R8)).
    /// - Returns: The token. It is inactive if `subject` is being deinitialised.
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.MainActorMessage>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor (Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            ObservationRequest(
                Message.self, of: AnySubject.sender(subject), once: once, key: key, at: fileID, line), handler)
    }

    /// Observes main-actor messages as long as an object, the owner, lives.
    ///
    /// ```swift
    /// center.observe(of: model, for: .didChange, owner: self) {
    ///     sidebar, message in sidebar.show(message)
    /// }
    /// ```
    ///
    /// The owner is not retained, but while the handler runs, which is handed it
    /// ([O1](doc:Contract#O1)-[O4](doc:Contract#O4)). The token need not be kept. All else is as without an owner.
    /// - Parameters:
    ///   - subject: The object that the messages are about, matched by identity and not retained
    ///     ([M5](doc:Contract#M5)). Leave it out for any subject.
    ///   - identifier: Which messages: an identifier of theirs, or `.type(…)`.
    ///   - owner: The object whose life bounds the observer, which is not retained.
    ///   - once: Whether the observer ends after it has run once ([R7](doc:Contract#R7)). Notifications that make no
    ///     message do not count.
    ///   - key: At most one live observer of this owner on this center has a given key; this one replaces it
    ///     ([M7](doc:Contract#M7)).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run, on the main actor, with the owner and the message. It is released when the observer
    ///     ends ([R8](doc:Contract#R8)).
    @discardableResult
    public func observe<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.MainActorMessage, Owner: AnyObject
    >(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, owner: Owner, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor (Owner, Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            ObservationRequest(
                Message.self, of: AnySubject.sender(subject), once: once, key: key, at: fileID, line),
            for: owner, handler)
    }
}
