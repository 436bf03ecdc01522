public import Foundation

// Observing typed messages.
//
// A message is observed by its identifier: one that its type declares, or `.type(…)`. The kind of the message and of the handler
// decide where the handler runs:
//
//     main-actor message                       on the main actor, inside the post
//     async message, async handler             in a task of the observer's own, one message after the other
//     async message, `on: .mainActor`          on the main actor, inside the post where nothing is pending
//     async message, `on:` any other target    on that target
//
// Each of the four has a form with an owner and one without. Two things differ from the forms for notifications. The request
// has the hook that finds messages (Messages.swift), and the handler gets the message out of its box.

// MARK: Identifiers and subjects

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter.MessageIdentifier {
    /// Main-actor messages of a type, which need not have an identifier of their own.
    ///
    /// ```swift
    /// center.observe(
    ///     of: model, for: .type(ModelDidChange.self), owner: self
    /// ) { sidebar, message in sidebar.show(message) }
    /// ```
    /// - Parameter type: The type of the messages.
    public static func type<Message: NotificationCenter.MainActorMessage>(_ type: Message.Type) -> Self
    where Self == NotificationCenter.BaseMessageIdentifier<Message> { Self() }

    /// Async messages of a type, which need not have an identifier of their own.
    /// - Parameter type: The type of the messages.
    public static func type<Message: NotificationCenter.AsyncMessage>(_ type: Message.Type) -> Self
    where Self == NotificationCenter.BaseMessageIdentifier<Message> { Self() }
}

/// The subject of a message where it was left out, which means any subject.
///
/// That differs from `nil`: passing an optional does not compile, so that one which is `nil` never widens to any (M5).
@_documentation(visibility: internal)
public struct AnySubject: Error {
    /// Stands for a subject that was left out.
    public static func subject<Subject>() throws(AnySubject) -> Subject { throw AnySubject() }

    /// A subject as a sender, or any.
    static func filter<Subject>(
        _ subject: () throws(AnySubject) -> Subject, call: StaticString = #function
    ) -> SenderFilter {
        do { return SenderFilter(any: try subject(), call: call) } catch { return .any }
    }
}

// MARK: Main-actor messages

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    /// Observes main-actor messages, until the returned token is released or cancelled.
    ///
    /// ```swift
    /// let token = center.observe(of: model, for: .didChange) {
    ///     message in …
    /// }
    /// ```
    ///
    /// *Delivery*: on the main actor. A message is posted there, so the handler has run when the post returns, also if
    /// other work is pending on the main queue (T3). A plain notification of the message's name may make a
    /// message (`BridgedMainActorMessage`). One that was posted elsewhere is delivered on the main actor later.
    ///
    /// The token's `target` cannot be switched. Complexity: O(1) amortised. Any thread.
    /// - Parameters:
    ///   - subject: The subject of the messages: an object, matched by identity and not retained, or a `Hashable` value.
    ///     The observer ends when an object has ended (M5).
    ///     Leave it out for any subject.
    ///   - identifier: Which messages: an identifier of theirs, or `.type(…)`.
    ///   - once: Whether the observer ends after one message (R7). Notifications that make no
    ///     message do not count.
    ///   - key: At most one live observer of this center has a given key; this one replaces it (M7).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: The code to run, on the main actor. It is released when the observer ends (R8).
    /// - Returns: The token. It is inactive if `subject` is being deinitialised.
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.MainActorMessage>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor (Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            ObservationRequest(Message.self, of: AnySubject.filter(subject), once: once, key: key, at: fileID, line),
            onMainActor: handler)
    }

    /// Observes main-actor messages as long as an object, the owner, lives.
    ///
    /// ```swift
    /// center.observe(of: model, for: .didChange, owner: self) {
    ///     sidebar, message in sidebar.show(message)
    /// }
    /// ```
    ///
    /// The owner is retained only while the handler runs, which gets it (O1-O4).
    /// The token need not be kept. A key is one of this owner on this center. All else is as without an owner.
    @discardableResult
    public func observe<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.MainActorMessage, Owner: AnyObject
    >(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor (Owner, Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            ObservationRequest(Message.self, of: AnySubject.filter(subject), once: once, key: key, at: fileID, line),
            for: owner, onMainActor: handler)
    }
}

// MARK: Async messages

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    /// Observes async messages with an async handler, until the returned token is released or cancelled.
    ///
    /// ```swift
    /// let token = center.observe(of: download, for: .didEnd) {
    ///     message in await store.keep(message)
    /// }
    /// ```
    ///
    /// *Delivery*: the posting thread never waits. The handler runs in a task of the observer's own, for one message after the
    /// other, in posting order (T3): the next call begins when the last one has returned. Messages
    /// that are pending when the observer ends are dropped. A plain notification of the message's name may make a message, in
    /// its post (`BridgedAsyncMessage`).
    ///
    /// `cancel()` cancels a call that is under way (P4); `await cancelAndWait()` waits for it. The
    /// token's `target` cannot be switched. The parameters are those of the form for main-actor messages.
    /// Complexity: O(1) amortised. Any thread.
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable @isolated(any) (Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            AsyncObservationRequest(
                Message.self, of: AnySubject.filter(subject), once: once, key: key, at: fileID, line),
            inTask: handler)
    }

    /// Observes async messages with an async handler, as long as an object, the owner, lives.
    ///
    /// ```swift
    /// center.observe(of: download, for: .didEnd, owner: library) {
    ///     library, message in
    ///     await library.add(message)
    /// }
    /// ```
    ///
    /// The owner is retained only from when the handler is called until it has returned (O1-O4, O9). An owner that is not
    /// `Sendable` passes to another thread, and the caller answers for that being right. The token need not be kept. All else
    /// is as without an owner.
    @discardableResult
    public func observe<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage, Owner: AnyObject
    >(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable @isolated(any) (Owner, Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            AsyncObservationRequest(
                Message.self, of: AnySubject.filter(subject), once: once, key: key, at: fileID, line),
            for: owner, inTask: handler)
    }

    /// Observes async messages on the main actor, until the returned token is released or cancelled.
    ///
    /// ```swift
    /// let token = center.observe(for: .didEnd, on: .mainActor) {
    ///     message in sidebar.title = "ended"
    /// }
    /// ```
    ///
    /// *Delivery*: posted on the main thread, the handler runs inside the post unless something of this observer is pending
    /// (D3); posted elsewhere, it runs later. The target cannot be switched.
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, on target: MainActorTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            ObservationRequest(
                Message.self, of: AnySubject.filter(subject), on: .main, isIsolated: true, once: once, key: key,
                at: fileID, line),
            onMainActor: handler)
    }

    /// Observes async messages on the main actor as long as an object, the owner, lives, as main-actor messages are.
    @discardableResult
    public func observe<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage, Owner: AnyObject
    >(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, owner: Owner, on target: MainActorTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (Owner, Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            ObservationRequest(
                Message.self, of: AnySubject.filter(subject), on: .main, isIsolated: true, once: once, key: key,
                at: fileID, line),
            for: owner, onMainActor: handler)
    }

    /// Observes async messages on a target, until the returned token is released or cancelled.
    ///
    /// ```swift
    /// let token = center.observe(
    ///     of: download, for: .didEnd, on: .dispatchQueue(work)
    /// ) { message in
    ///     …
    /// }
    /// ```
    ///
    /// *Delivery*: as `DeliveryTarget` says; `.postingThread` calls the handler inside the post. The target can be switched.
    /// All else is as for a handler that is async.
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, on target: DeliveryTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            ObservationRequest(
                Message.self, of: AnySubject.filter(subject), on: target, once: once, key: key, at: fileID, line),
            onTarget: handler)
    }

    /// Observes async messages on a target as long as an object, the owner, lives, as main-actor messages are.
    @discardableResult
    public func observe<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage, Owner: AnyObject
    >(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, owner: Owner, on target: DeliveryTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            ObservationRequest(
                Message.self, of: AnySubject.filter(subject), on: target, once: once, key: key, at: fileID, line),
            for: owner, onTarget: handler)
    }

    // Named async functions of a module with the upcoming feature `NonisolatedNonsendingByDefault`, as in
    // NotifyingCenter+Nonsending.swift.

    @_documentation(visibility: internal)
    @_disfavoredOverload
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        nonsending _: Never? = nil,
        _ handler: nonisolated(nonsending) @escaping @Sendable (Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            AsyncObservationRequest(
                Message.self, of: AnySubject.filter(subject), once: once, key: key, at: fileID, line),
            inTask: { await handler($0) })
    }

    @_documentation(visibility: internal)
    @discardableResult
    @_disfavoredOverload
    public func observe<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage, Owner: AnyObject
    >(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        nonsending _: Never? = nil,
        _ handler: nonisolated(nonsending) @escaping @Sendable (Owner, Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            AsyncObservationRequest(
                Message.self, of: AnySubject.filter(subject), once: once, key: key, at: fileID, line),
            for: owner, inTask: { await handler($0, $1) })
    }
}

// MARK: Foundation's calls

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    /// Adds an observer of main-actor messages, as Foundation's center does; see `observe(of:for:once:key:fileID:line:_:)`.
    ///
    /// Two things differ from Foundation's. The token is a `NotificationObserver`, which ends the observer when it is
    /// released. And an optional subject does not compile, so that one which is `nil` never widens to any (M5).
    public func addObserver<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.MainActorMessage
    >(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, fileID: StaticString = #fileID, line: UInt = #line,
        using observer: @escaping @MainActor (Message) -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            ObservationRequest(
                Message.self, of: AnySubject.filter(subject), once: false, key: nil, at: fileID, line),
            onMainActor: observer)
    }

    /// Adds an observer of async messages, as Foundation's center does; see `observe(of:for:once:key:fileID:line:_:)`.
    public func addObserver<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, fileID: StaticString = #fileID, line: UInt = #line,
        using observer: @escaping @Sendable (Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message {
        observeMessages(
            AsyncObservationRequest(
                Message.self, of: AnySubject.filter(subject), once: false, key: nil, at: fileID, line),
            inTask: observer)
    }
}

// MARK: Sequences

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    /// The async messages that are posted from now on, as an async sequence.
    ///
    /// ```swift
    /// let ends = center.messages(of: download, for: .didEnd)
    /// for await message in ends { … }
    /// ```
    ///
    /// Observation begins with this call: nothing that is posted after it is missed, also not before the iteration,
    /// within the buffer's policy (S1). A plain notification of the message's name counts if a
    /// message can be made of it (`BridgedAsyncMessage`). See `NotificationSequence` for the end.
    ///
    /// Foundation keeps the newest 10 if no size is given; here it is all.
    ///
    /// Complexity: O(1) amortised. Any thread.
    /// - Parameters:
    ///   - subject: The subject of the messages. An object is matched by identity and not retained: the sequence ends
    ///     when it has (M5). Leave it out for any subject.
    ///   - identifier: Which messages: an identifier of theirs, or `.type(…)`.
    ///   - owner: An object whose life bounds the sequence, without being retained. Leave it out for none.
    ///   - policy: How much is kept until it is taken. A number of less than 1 stops the program.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    public func messages<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage, Owner: AnyObject
    >(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, owner: Owner = Omitted.argument, buffering policy: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationSequence<Message> where Identifier.MessageType == Message {
        // The hook is used for its conversion alone: the buffer is the registration's hook.
        let hook = AsyncMessageHook<Message>()
        return NotificationSequence(
            SequenceSource(
                self, MessageKind.of(Message.self).name, from: AnySubject.filter(subject), owner: owner, policy,
                at: RegistrationSite(file: fileID, line: line), prepare: { hook.prepare($0) }, call: #function)
        ) { MessageEnvelope.message(in: $0) }
    }
}

// MARK: Requests

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObservationRequest {
    /// Main-actor messages, delivered at once where they are posted (T3).
    fileprivate init<Message: NotificationCenter.MainActorMessage>(
        _ type: Message.Type, of subject: SenderFilter, once: Bool, key: (any Hashable)?, at file: StaticString,
        _ line: UInt, call: StaticString = #function
    ) {
        self.init(
            name: MessageKind.of(type).name, sender: subject, target: DeliveryTarget(kind: .mainAlwaysInline),
            isIsolated: true, once: once, key: key.map { ObserverKey($0) },
            site: RegistrationSite(file: file, line: line), call: call)
        add(MainActorMessageHook<Message>())
    }

    /// Async messages, delivered to a target.
    fileprivate init<Message: NotificationCenter.AsyncMessage>(
        _ type: Message.Type, of subject: SenderFilter, on target: DeliveryTarget, isIsolated: Bool = false,
        once: Bool, key: (any Hashable)?, at file: StaticString, _ line: UInt, call: StaticString = #function
    ) {
        self.init(
            name: MessageKind.of(type).name, sender: subject, target: target, isIsolated: isIsolated, once: once,
            key: key.map { ObserverKey($0) }, site: RegistrationSite(file: file, line: line), call: call)
        add(AsyncMessageHook<Message>())
    }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension AsyncObservationRequest {
    /// Async messages, delivered to an async handler.
    fileprivate init<Message: NotificationCenter.AsyncMessage>(
        _ type: Message.Type, of subject: SenderFilter, once: Bool, key: (any Hashable)?, at file: StaticString,
        _ line: UInt, call: StaticString = #function
    ) {
        self.init {
            ObservationRequest(
                type, of: subject, on: $0, isIsolated: true, once: once, key: key, at: file, line, call: call)
        }
    }
}

// MARK: Handlers

extension ObserverCenter {
    private func observeMessages<Message>(
        _ request: ObservationRequest, onMainActor handler: @escaping @MainActor (Message) -> Void
    ) -> NotificationObserver {
        // SAFETY: the isolation does not change how a function is called, and the target is the main actor.
        observeMessages(request, onTarget: unsafe unsafeBitCast(handler, to: (@Sendable (Message) -> Void).self))
    }

    private func observeMessages<Message, Owner: AnyObject>(
        _ request: ObservationRequest, for owner: Owner,
        onMainActor handler: @escaping @MainActor (Owner, Message) -> Void
    ) -> NotificationObserver {
        // SAFETY: the isolation does not change how a function is called, and the target is the main actor.
        let handler = unsafe unsafeBitCast(handler, to: (@Sendable (Owner, Message) -> Void).self)
        return observeMessages(request, for: owner, onTarget: handler)
    }

    private func observeMessages<Message>(
        _ request: ObservationRequest, onTarget handler: @escaping @Sendable (Message) -> Void
    ) -> NotificationObserver {
        observe(request) { delivery in MessageEnvelope.message(in: delivery).map(handler) }
    }

    private func observeMessages<Message, Owner: AnyObject>(
        _ request: ObservationRequest, for owner: Owner, onTarget handler: @escaping @Sendable (Owner, Message) -> Void
    ) -> NotificationObserver {
        observe(request, for: owner) { owner, delivery in
            MessageEnvelope.message(in: delivery).map { handler(owner, $0) }
        }
    }

    private func observeMessages<Message: Sendable>(
        _ request: AsyncObservationRequest, inTask handler: @escaping @Sendable @isolated(any) (Message) async -> Void
    ) -> NotificationObserver {
        let hook = request.hook(on: handler.isolation)
        return observe(request.request) { delivery in
            guard let message: Message = MessageEnvelope.message(in: delivery) else { return }
            hook.call { _ in await handler(message) }
        }
    }

    private func observeMessages<Message: Sendable, Owner: AnyObject>(
        _ request: AsyncObservationRequest, for owner: Owner,
        inTask handler: @escaping @Sendable @isolated(any) (Owner, Message) async -> Void
    ) -> NotificationObserver {
        let hook = request.hook(on: handler.isolation)
        return observe(request.request, for: owner) { owner, delivery in
            guard let message: Message = MessageEnvelope.message(in: delivery) else { return }
            // SAFETY: it passes to the handler's task, as to the thread of any other target: the caller answers for that.
            nonisolated(unsafe) let owner = owner
            hook.call { _ in unsafe await handler(owner, message) }
        }
    }
}
