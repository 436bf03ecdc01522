public import Foundation

// The calls of Foundation's NotificationCenter for messages (T1).

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    // MARK: Posting

    /// Posts a main-actor message about an object.
    ///
    /// Observers of the message have returned when this returns ([T3](doc:Contract#T3)). Plain observers of the
    /// message's name, and of any name, get a notification with `subject` as its object, and the `userInfo` of the one
    /// that the message makes (`BridgedMainActorMessage`) with one entry more, which holds the message.
    @MainActor
    public func post<Message: NotificationCenter.MainActorMessage>(_ message: Message, subject: Message.Subject)
    where Message.Subject: AnyObject {
        post(message, about: subject)
    }

    /// Posts a main-actor message that is about no object in particular; it reaches observers of any subject.
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
    public func post<Message: NotificationCenter.AsyncMessage>(_ message: Message, subject: Message.Subject)
    where Message.Subject: AnyObject {
        post(message, about: subject)
    }

    /// Posts an async message that is about no object in particular; it reaches observers of any subject.
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
                receive(
                    MessageEnvelope.notification(
                        name, subject: subject, userInfo: MessageBridge.userInfo(of: message), carrying: message))
            })
    }

    private func post<Message: NotificationCenter.AsyncMessage>(_ message: Message, about subject: AnyObject?) {
        let name = MessageNames.name(of: Message.self)
        core.post(
            name: name, sender: { subject.map(SenderKey.init) },
            notify: { receive in
                receive(
                    MessageEnvelope.notification(
                        name, subject: subject, userInfo: MessageBridge.userInfo(of: message), carrying: message))
            })
    }

    // MARK: Observing

    /// Adds an observer of main-actor messages about an object; see `observe(of:for:once:key:fileID:line:_:)`.
    ///
    /// Two things differ from Foundation's. The token is a `NotificationObserver`. And an optional subject does not
    /// compile, so that one which is `nil` never widens to any ([M5](doc:Contract#M5)).
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
    public func addObserver<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject, for identifier: Identifier,
        fileID: StaticString = #fileID, line: UInt = #line,
        using observer: @escaping @Sendable (Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            AsyncObservationRequest(Message.self, of: subject, once: false, key: nil, at: fileID, line), observer)
    }

    /// Adds an observer of async messages about any subject.
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
