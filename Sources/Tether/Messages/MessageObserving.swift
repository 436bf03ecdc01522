public import Foundation

// Observing typed messages.
//
// The kinds of the message and the handler decide where the handler runs:
//
// - main-actor message:                     on the main actor, inside the post
// - async message, async handler:           in the observer's own task, one message after the other
// - async message, `on: .mainActor`:        on the main actor; inside a post there, if no delivery
//   is pending
// - async message, `on: .mainActorAsync`:   on the main actor, in a later turn
// - async message, `on:` any other target:  on the target

// MARK: Identifiers and subjects

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter.MessageIdentifier {
    /// Main-actor messages of a type, with or without an identifier of their own: `for:
    /// .type(ModelDidChange.self)`.
    public static func type<Message: NotificationCenter.MainActorMessage>(_ type: Message.Type)
        -> Self
    where Self == NotificationCenter.BaseMessageIdentifier<Message> { Self() }

    /// Async messages of a type, with or without an identifier of their own.
    public static func type<Message: NotificationCenter.AsyncMessage>(_ type: Message.Type) -> Self
    where Self == NotificationCenter.BaseMessageIdentifier<Message> { Self() }
}

extension ObserverCenter {
    /// Stands for an omitted subject: any subject. An optional subject does not compile, so a `nil`
    /// never widens to any subject (M5).
    @_documentation(visibility: internal)
    public struct AnySubject: Error {
        /// Throws in the place of an omitted subject.
        public static func subject<Subject>() throws(AnySubject) -> Subject { throw AnySubject() }
    }
}

extension SenderFilter {
    /// The filter of a subject; any sender if the subject was omitted.
    fileprivate init<Subject>(
        _ subject: () throws(ObserverCenter.AnySubject) -> Subject, at site: CallSite
    ) {
        do { self.init(any: try subject(), at: site) } catch { self = .any }
    }
}

// MARK: Main-actor messages

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    /// Observes main-actor messages until the returned token is released or cancelled.
    ///
    /// ```swift
    /// let token = center.observe(of: model, for: .didChange) {
    ///     message in …
    /// }
    /// ```
    ///
    /// *Delivery*: on the main actor. A message is posted there, so the handler has run when the
    /// post returns, also if other work is pending on the main queue. A plain notification of the
    /// message's name may make a message (`BridgedMainActorMessage`). Complexity: O(1) amortised.
    /// Any thread.
    /// - Parameters:
    ///   - subject: An object, matched by identity and not retained, whose end ends the observer,
    ///     or a `Hashable` value; any subject if omitted.
    ///   - identifier: An identifier of the messages, or `.type(…)`.
    ///   - once: Whether the observer ends after one message, but not after a notification that
    ///     makes no message.
    ///   - key: The key; the new observer replaces the center's live observer with an equal key.
    ///   - fileID: The file of the call, for audits and reports.
    ///   - line: The line of the call.
    ///   - handler: The code to run on the main actor, released when the observer ends.
    /// - Returns: The token, inactive if `subject` is being deinitialized.
    public func observe<Identifier: NotificationCenter.MessageIdentifier>(
        of subject: @autoclosure () throws(AnySubject) -> Identifier.MessageType.Subject =
            try AnySubject.subject(),
        for identifier: Identifier, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID,
        line: UInt = #line, using handler: @escaping @MainActor (Identifier.MessageType) -> Void
    ) -> NotificationObserver where Identifier.MessageType: NotificationCenter.MainActorMessage {
        observe(
            ObservationRequest(
                .of(Identifier.MessageType.self), of: subject, on: .insideThePost, isIsolated: true,
                once: once, key: key, backlog: .unbounded, fileID: fileID, line: line)
        ) {
            [handler = withoutIsolation(handler)] in $0.pass(to: handler)
        }
    }

    /// Observes main-actor messages as long as an object, the owner, lives.
    ///
    /// The owner is retained only while the handler runs. The caller need not keep the token.
    @discardableResult
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Owner: AnyObject>(
        of subject: @autoclosure () throws(AnySubject) -> Identifier.MessageType.Subject =
            try AnySubject.subject(),
        for identifier: Identifier, owner: Owner, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        using handler: @escaping @MainActor (Owner, Identifier.MessageType) -> Void
    ) -> NotificationObserver where Identifier.MessageType: NotificationCenter.MainActorMessage {
        observe(
            ObservationRequest(
                .of(Identifier.MessageType.self), of: subject, on: .insideThePost, isIsolated: true,
                once: once, key: key, backlog: .unbounded, fileID: fileID, line: line),
            for: owner
        ) {
            [handler = withoutIsolation(handler)] owner, delivery in
            delivery.pass { handler(owner, $0) }
        }
    }

    // MARK: Async messages

    /// Observes async messages with an async handler until the returned token is released or
    /// cancelled.
    ///
    /// ```swift
    /// let token = center.observe(of: download, for: .didEnd) {
    ///     message in await store.keep(message)
    /// }
    /// ```
    ///
    /// *Delivery*: the posting thread never waits. The handler runs in the observer's own task, in
    /// posting order, one call at a time. Messages pending at the observer's end are dropped, and a
    /// call under way is cancelled. A plain notification of the message's name may make a message,
    /// inside the post (`BridgedAsyncMessage`). `backlog` bounds the messages that may wait. All
    /// else is as for main-actor messages.
    public func observe<Identifier: NotificationCenter.MessageIdentifier>(
        of subject: @autoclosure () throws(AnySubject) -> Identifier.MessageType.Subject =
            try AnySubject.subject(),
        for identifier: Identifier, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID,
        line: UInt = #line,
        using handler: @escaping @Sendable @isolated(any) (Identifier.MessageType) async -> Void
    ) -> NotificationObserver where Identifier.MessageType: NotificationCenter.AsyncMessage {
        let hook = AsyncHandlerHook(on: handler.isolation)
        let request = ObservationRequest(
            .of(Identifier.MessageType.self), of: subject, on: hook.target, isIsolated: true,
            by: hook,
            once: once, key: key, backlog: backlog, fileID: fileID, line: line)
        return observe(request) { $0.pass { message in hook.call { _ in await handler(message) } } }
    }

    /// Observes async messages with an async handler as long as an object, the owner, lives.
    ///
    /// The owner is retained from the handler's call to the return. An owner that is not `Sendable`
    /// passes to another thread, and the caller answers for the transfer.
    @discardableResult
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Owner: AnyObject>(
        of subject: @autoclosure () throws(AnySubject) -> Identifier.MessageType.Subject =
            try AnySubject.subject(),
        for identifier: Identifier, owner: Owner, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        using handler:
            @escaping @Sendable @isolated(any) (Owner, Identifier.MessageType) async -> Void
    ) -> NotificationObserver where Identifier.MessageType: NotificationCenter.AsyncMessage {
        let hook = AsyncHandlerHook(on: handler.isolation)
        let request = ObservationRequest(
            .of(Identifier.MessageType.self), of: subject, on: hook.target, isIsolated: true,
            by: hook,
            once: once, key: key, backlog: backlog, fileID: fileID, line: line)
        return observe(request, for: owner) { owner, delivery in
            // SAFETY: the owner passes to the handler's task, as to any target's thread; the caller
            // answers for that.
            nonisolated(unsafe) let owner = owner
            delivery.pass { message in hook.call { _ in unsafe await handler(owner, message) } }
        }
    }

    /// Observes async messages on the main actor until the returned token is released or cancelled.
    ///
    /// With `.mainActor`, a post on the main queue calls the handler inline, unless a delivery of
    /// the center waits there; with `.mainActorAsync` the handler always runs in a later turn.
    public func observe<Identifier: NotificationCenter.MessageIdentifier>(
        of subject: @autoclosure () throws(AnySubject) -> Identifier.MessageType.Subject =
            try AnySubject.subject(),
        for identifier: Identifier, on target: MainActorTarget, once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        using handler: @escaping @MainActor @Sendable (Identifier.MessageType) -> Void
    ) -> NotificationObserver where Identifier.MessageType: NotificationCenter.AsyncMessage {
        observe(
            ObservationRequest(
                .of(Identifier.MessageType.self), of: subject, on: target.delivery,
                isIsolated: true,
                once: once, key: key, backlog: backlog, fileID: fileID, line: line)
        ) {
            [handler = withoutIsolation(handler)] in $0.pass(to: handler)
        }
    }

    /// Observes async messages on the main actor as long as an object, the owner, lives.
    @discardableResult
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Owner: AnyObject>(
        of subject: @autoclosure () throws(AnySubject) -> Identifier.MessageType.Subject =
            try AnySubject.subject(),
        for identifier: Identifier, owner: Owner, on target: MainActorTarget, once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        using handler: @escaping @MainActor @Sendable (Owner, Identifier.MessageType) -> Void
    ) -> NotificationObserver where Identifier.MessageType: NotificationCenter.AsyncMessage {
        observe(
            ObservationRequest(
                .of(Identifier.MessageType.self), of: subject, on: target.delivery,
                isIsolated: true,
                once: once, key: key, backlog: backlog, fileID: fileID, line: line),
            for: owner
        ) {
            [handler = withoutIsolation(handler)] owner, delivery in
            delivery.pass { handler(owner, $0) }
        }
    }

    /// Observes async messages on a target until the returned token is released or cancelled.
    ///
    /// The target can be switched; see ``DeliveryTarget``.
    public func observe<Identifier: NotificationCenter.MessageIdentifier>(
        of subject: @autoclosure () throws(AnySubject) -> Identifier.MessageType.Subject =
            try AnySubject.subject(),
        for identifier: Identifier, on target: DeliveryTarget, once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        using handler: @escaping @Sendable (Identifier.MessageType) -> Void
    ) -> NotificationObserver where Identifier.MessageType: NotificationCenter.AsyncMessage {
        observe(
            ObservationRequest(
                .of(Identifier.MessageType.self), of: subject, on: target, once: once, key: key,
                backlog: backlog, fileID: fileID, line: line)
        ) {
            $0.pass(to: handler)
        }
    }

    /// Observes async messages on a target as long as an object, the owner, lives.
    @discardableResult
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Owner: AnyObject>(
        of subject: @autoclosure () throws(AnySubject) -> Identifier.MessageType.Subject =
            try AnySubject.subject(),
        for identifier: Identifier, owner: Owner, on target: DeliveryTarget, once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        using handler: @escaping @Sendable (Owner, Identifier.MessageType) -> Void
    ) -> NotificationObserver where Identifier.MessageType: NotificationCenter.AsyncMessage {
        let request = ObservationRequest(
            .of(Identifier.MessageType.self), of: subject, on: target, once: once, key: key,
            backlog: backlog, fileID: fileID, line: line)
        return observe(request, for: owner) { owner, delivery in
            delivery.pass { handler(owner, $0) }
        }
    }

    /// Observes async messages as long as an actor, the owner, lives, with a handler isolated to the
    /// actor.
    ///
    /// ```swift
    /// center.observe(for: .didEnd, owner: index) {
    ///     (index: isolated Index, message) in
    ///     index.generation += 1         // on the actor: no `await`
    /// }
    /// ```
    ///
    /// *Delivery*: on the actor, as for notifications; see
    /// ``NotifyingCenter/observe(_:from:owner:once:key:backlog:fileID:line:_:)``.
    @discardableResult
    @_disfavoredOverload
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Owner: Actor>(
        of subject: @autoclosure () throws(AnySubject) -> Identifier.MessageType.Subject =
            try AnySubject.subject(),
        for identifier: Identifier, owner: Owner, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        using handler: @escaping @Sendable (isolated Owner, Identifier.MessageType) -> Void
    ) -> NotificationObserver where Identifier.MessageType: NotificationCenter.AsyncMessage {
        let request = ObservationRequest(
            .of(Identifier.MessageType.self), of: subject, on: .isolated(to: owner),
            isIsolated: true, once: once, key: key, backlog: backlog, fileID: fileID, line: line)
        return observe(request, for: owner) { owner, delivery in
            // SAFETY: the delivery stays on the calling thread, which has the actor; `ActorTarget`
            // upholds that.
            nonisolated(unsafe) let delivery = delivery
            owner.assumeIsolated { owner in unsafe delivery.pass { handler(owner, $0) } }
        }
    }

    // MARK: Foundation's calls

    /// Adds an observer of main-actor messages, as in Foundation; see
    /// `observe(of:for:once:key:fileID:line:using:)`.
    ///
    /// Two things differ from Foundation: the token's release ends the observer, and an optional
    /// subject does not compile.
    public func addObserver<Identifier: NotificationCenter.MessageIdentifier>(
        of subject: @autoclosure () throws(AnySubject) -> Identifier.MessageType.Subject =
            try AnySubject.subject(),
        for identifier: Identifier, fileID: StaticString = #fileID, line: UInt = #line,
        using observer: @escaping @MainActor (Identifier.MessageType) -> Void
    ) -> NotificationObserver where Identifier.MessageType: NotificationCenter.MainActorMessage {
        observe(of: try subject(), for: identifier, fileID: fileID, line: line, using: observer)
    }

    /// Adds an observer of async messages, as in Foundation; see
    /// `observe(of:for:once:key:backlog:fileID:line:using:)`.
    public func addObserver<Identifier: NotificationCenter.MessageIdentifier>(
        of subject: @autoclosure () throws(AnySubject) -> Identifier.MessageType.Subject =
            try AnySubject.subject(),
        for identifier: Identifier, fileID: StaticString = #fileID, line: UInt = #line,
        using observer: @escaping @Sendable (Identifier.MessageType) async -> Void
    ) -> NotificationObserver where Identifier.MessageType: NotificationCenter.AsyncMessage {
        observe(of: try subject(), for: identifier, fileID: fileID, line: line, using: observer)
    }

    /// Adds an observer of a type of main-actor messages, as in Foundation.
    public func addObserver<Message: NotificationCenter.MainActorMessage>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject =
            try AnySubject.subject(),
        for type: Message.Type, fileID: StaticString = #fileID, line: UInt = #line,
        using observer: @escaping @MainActor (Message) -> Void
    ) -> NotificationObserver {
        observe(of: try subject(), for: .type(type), fileID: fileID, line: line, using: observer)
    }

    /// Adds an observer of a type of async messages, as in Foundation.
    public func addObserver<Message: NotificationCenter.AsyncMessage>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject =
            try AnySubject.subject(),
        for type: Message.Type, fileID: StaticString = #fileID, line: UInt = #line,
        using observer: @escaping @Sendable (Message) async -> Void
    ) -> NotificationObserver {
        observe(of: try subject(), for: .type(type), fileID: fileID, line: line, using: observer)
    }

    // MARK: Sequences

    /// The async messages posted from now on, as an async sequence.
    ///
    /// ```swift
    /// let ends = center.messages(of: download, for: .didEnd)
    /// for await message in ends { … }
    /// ```
    ///
    /// A plain notification of the message's name counts if it makes a message
    /// (`BridgedAsyncMessage`). Without a policy, Foundation keeps the newest 10 messages, and
    /// Tether keeps all messages. All else is as for `notifications(named:from:owner:buffering:)`.
    public func messages<Identifier: NotificationCenter.MessageIdentifier>(
        of subject: @autoclosure () throws(AnySubject) -> Identifier.MessageType.Subject =
            try AnySubject.subject(),
        for identifier: Identifier, owner: AnyObject = Omitted.argument,
        buffering policy: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationSequence<Identifier.MessageType>
    where Identifier.MessageType: NotificationCenter.AsyncMessage {
        let kind = MessageKind.of(Identifier.MessageType.self)
        let site = CallSite(fileID, line)
        return NotificationSequence(
            SequenceSource(
                self, kind.name, from: SenderFilter(subject, at: site), owner: owner, policy,
                at: site,
                hook: { MessageHook(kind) })
        ) { $0.carriedMessage?.box(of: Identifier.MessageType.self)?.message }
    }

    /// The async messages of a type posted from now on, as in Foundation.
    public func messages<Message: NotificationCenter.AsyncMessage>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject =
            try AnySubject.subject(),
        for type: Message.Type, owner: AnyObject = Omitted.argument,
        buffering policy: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationSequence<Message> {
        messages(
            of: try subject(), for: .type(type), owner: owner, buffering: policy, fileID: fileID,
            line: line)
    }
}

// MARK: Requests

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObservationRequest {
    /// A request for messages of a kind.
    fileprivate init<Subject>(
        _ kind: MessageKind, of subject: () throws(ObserverCenter.AnySubject) -> Subject,
        on target: DeliveryTarget, isIsolated: Bool = false, by hook: AsyncHandlerHook? = nil,
        once: Bool, key: (any Hashable)?, backlog: BufferingPolicy,
        fileID: StaticString, line: UInt, call: StaticString = #function
    ) {
        let site = CallSite(fileID, line, call: call)
        let first = MessageHook(kind)
        first.nextHook = hook
        self.init(
            name: kind.name, sender: SenderFilter(subject, at: site), target: target,
            isIsolated: isIsolated, once: once, key: key.map { ObserverKey($0, at: site) },
            backlog: backlog, site: site, hook: first)
    }
}

extension DeliveryTarget {
    /// The main queue, inside each post there, whatever waits there (T3).
    fileprivate static var insideThePost: DeliveryTarget {
        DeliveryTarget(MainQueueTarget(inline: .always))
    }
}

extension Notification {
    /// Calls a handler with the message of a delivery.
    @inline(__always)
    fileprivate func pass<Message>(to handler: (Message) -> Void) {
        if let box = carriedMessage?.box(of: Message.self) { handler(box.message) }
    }
}

/// SAFETY: the isolation does not change how a function is called; the request's target is the main
/// actor.
private func withoutIsolation<Message>(
    _ handler: @escaping @MainActor (Message) -> Void
) -> @Sendable (Message) -> Void {
    unsafe unsafeBitCast(handler, to: (@Sendable (Message) -> Void).self)
}

/// SAFETY: the isolation does not change how a function is called; the request's target is the main
/// actor.
private func withoutIsolation<Owner, Message>(
    _ handler: @escaping @MainActor (Owner, Message) -> Void
) -> @Sendable (Owner, Message) -> Void {
    unsafe unsafeBitCast(handler, to: (@Sendable (Owner, Message) -> Void).self)
}
