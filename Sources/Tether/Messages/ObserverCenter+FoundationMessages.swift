public import Foundation

// The calls of Foundation's NotificationCenter for messages (T1).

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    // MARK: Posting

    /// Posts a main-actor message about an object.
    ///
    /// Observers of the message have returned when this returns ([T3](doc:Contract#T3)). Plain observers of the
    /// message's name, and of any name, get a notification with `subject` as its object, and the `userInfo` of the one
    /// that the message makes (`BridgedMainActorMessage`); where it makes none, one with an entry that holds the message.
    /// - Parameters:
    ///   - message: The message.
    ///   - subject: The object that it is about.
    @MainActor
    public func post<Message: NotificationCenter.MainActorMessage>(_ message: Message, subject: Message.Subject)
    where Message.Subject: AnyObject {
        post(message, about: subject)
    }

    /// Posts a main-actor message that is about no object in particular; it reaches observers of any subject.
    /// - Parameters:
    ///   - message: The message.
    ///   - subject: The type of its subject; leave it out.
    @MainActor
    public func post<Message: NotificationCenter.MainActorMessage>(
        _ message: Message, subject: Message.Subject.Type = Message.Subject.self
    ) {
        post(message, about: nil)
    }

    /// Posts an async message about an object.
    ///
    /// Never waits for async handlers. Plain observers get a notification, as they do of a main-actor message
    /// (`BridgedAsyncMessage`). Any thread.
    /// - Parameters:
    ///   - message: The message. Observers' tasks take it to other threads.
    ///   - subject: The object that it is about.
    public func post<Message: NotificationCenter.AsyncMessage>(_ message: Message, subject: Message.Subject)
    where Message.Subject: AnyObject {
        post(message, about: subject)
    }

    /// Posts an async message that is about no object in particular; it reaches observers of any subject.
    /// - Parameters:
    ///   - message: The message. Observers' tasks take it to other threads.
    ///   - subject: The type of its subject; leave it out.
    public func post<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, subject: Message.Subject.Type = Message.Subject.self
    ) {
        post(message, about: nil)
    }

    @MainActor
    private func post<Message: NotificationCenter.MainActorMessage>(_ message: Message, about subject: AnyObject?) {
        let name = MessageNames.name(of: Message.self)
        core.post(
            name: name, sender: { subject.map(SenderKey.init) },
            notify: { receive in
                let userInfo = MessageBridge.userInfo(of: message)
                let notification = Notification(name: name, object: subject, userInfo: userInfo)
                MessageEnvelope.post(message, as: notification, to: receive)
            })
    }

    private func post<Message: NotificationCenter.AsyncMessage>(_ message: Message, about subject: AnyObject?) {
        let name = MessageNames.name(of: Message.self)
        core.post(
            name: name, sender: { subject.map(SenderKey.init) },
            notify: { receive in
                let userInfo = MessageBridge.userInfo(of: message)
                let notification = Notification(name: name, object: subject, userInfo: userInfo)
                MessageEnvelope.post(message, as: notification, to: receive)
            })
    }

    // MARK: Observing

    /// Adds an observer of main-actor messages about an object; see `observe(of:for:once:key:fileID:line:_:)`.
    ///
    /// Two things differ from Foundation's. The token is a `NotificationObserver`. And an optional subject does not
    /// compile, so that one which is `nil` never widens to any ([M5](doc:Contract#M5)).
    /// - Parameters:
    ///   - subject: The object that the messages are about, matched by identity and not retained
    ///     ([M5](doc:Contract#M5)).
    ///   - identifier: Which messages: an identifier of theirs, or `.type(…)`.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - observer: What to run, on the main actor.
    public func addObserver<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.MainActorMessage
    >(
        of subject: Message.Subject, for identifier: Identifier,
        fileID: StaticString = #fileID, line: UInt = #line,
        using observer: @escaping @MainActor (Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            ObservationRequest(Message.self, of: subject, once: false, key: nil, at: fileID, line), observer)
    }

    /// Adds an observer of main-actor messages about any subject.
    /// - Parameters:
    ///   - subject: The type of the subjects, any of which is observed.
    ///   - identifier: Which messages: an identifier of theirs, or `.type(…)`.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - observer: What to run, on the main actor.
    public func addObserver<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.MainActorMessage
    >(
        of subject: Message.Subject.Type, for identifier: Identifier,
        fileID: StaticString = #fileID, line: UInt = #line,
        using observer: @escaping @MainActor (Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            ObservationRequest(Message.self, of: Omitted.argument, once: false, key: nil, at: fileID, line), observer)
    }

    /// Adds an observer of main-actor messages, given their type; about any subject, if that is left out.
    /// - Parameters:
    ///   - subject: The object that the messages are about, matched by identity and not retained
    ///     ([M5](doc:Contract#M5)). Leave it out for any subject.
    ///   - type: Which messages: their type.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - observer: What to run, on the main actor.
    public func addObserver<Message: NotificationCenter.MainActorMessage>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for type: Message.Type, fileID: StaticString = #fileID, line: UInt = #line,
        using observer: @escaping @MainActor (Message) -> Void
    ) -> NotificationObserver where Message.Subject: AnyObject {
        observeMessages(
            ObservationRequest(Message.self, of: AnySubject.sender(subject), once: false, key: nil, at: fileID, line),
            observer)
    }

    /// Adds an observer of async messages about an object; see `observe(of:for:once:key:fileID:line:_:)`.
    /// - Parameters:
    ///   - subject: The object that the messages are about, matched by identity and not retained
    ///     ([M5](doc:Contract#M5)).
    ///   - identifier: Which messages: an identifier of theirs, or `.type(…)`.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - observer: What to run, in a task of the observer's own, one message after the other.
    public func addObserver<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject, for identifier: Identifier,
        fileID: StaticString = #fileID, line: UInt = #line,
        using observer: @escaping @Sendable (Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            AsyncObservationRequest(Message.self, of: subject, once: false, key: nil, at: fileID, line), observer)
    }

    /// Adds an observer of async messages about any subject.
    /// - Parameters:
    ///   - subject: The type of the subjects, any of which is observed.
    ///   - identifier: Which messages: an identifier of theirs, or `.type(…)`.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - observer: What to run, in a task of the observer's own, one message after the other.
    public func addObserver<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject.Type, for identifier: Identifier,
        fileID: StaticString = #fileID, line: UInt = #line,
        using observer: @escaping @Sendable (Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            AsyncObservationRequest(Message.self, of: Omitted.argument, once: false, key: nil, at: fileID, line),
            observer)
    }

    /// Adds an observer of async messages, given their type; about any subject, if that is left out.
    /// - Parameters:
    ///   - subject: The object that the messages are about, matched by identity and not retained
    ///     ([M5](doc:Contract#M5)). Leave it out for any subject.
    ///   - type: Which messages: their type.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - observer: What to run, in a task of the observer's own, one message after the other.
    public func addObserver<Message: NotificationCenter.AsyncMessage>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for type: Message.Type, fileID: StaticString = #fileID, line: UInt = #line,
        using observer: @escaping @Sendable (Message) async -> Void
    ) -> NotificationObserver where Message.Subject: AnyObject {
        observeMessages(
            AsyncObservationRequest(
                Message.self, of: AnySubject.sender(subject), once: false, key: nil, at: fileID, line),
            observer)
    }
}
