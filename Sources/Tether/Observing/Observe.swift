public import Foundation

// The forms of `observe`: held by a token, by an owner, or by an actor as owner. Each has a synchronous handler, one of the
// main actor, and an async one; all end in `ObservationRequest.register`.

extension NotifyingCenter {
    // MARK: Held by a token

    /// Observes until the returned token goes, or is stopped.
    ///
    /// ```swift
    /// let token = center.observe(.modelDidChange, from: model) {
    ///     note in …
    /// }
    /// ```
    ///
    /// The first call is for posts that begin after this returns (R4). Complexity: O(1) amortised.
    /// Any thread.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained: when it has ended, so has the observer
    ///     (M5). Leave it out for any sender.
    ///   - target: Where the handler runs: on the posting thread, inside the post, if left out.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of a center has a given key; this one replaces it (M7).
    ///     Its `==` and `hash(into:)` must be pure.
    ///   - backlog: How many of its deliveries may wait on the target (D8).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run. It is released when the observer ends (R8).
    /// - Returns: The token. It is inactive if `sender` is being deinitialised.
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, on target: DeliveryTarget = .postingThread,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver {
        // The usual case, of which a request would be half of the cost.
        if target.isPoster, key == nil, backlog.limit == .max, isOwn, Omitted.stands(for: sender) {
            // SAFETY: the type was asked for.
            return unsafe unsafeDowncast(self, to: ObserverCenter.self).observeAtOnce(
                name, flags: once ? Registration.State.once : 0, site: RegistrationSite(file: fileID, line: line),
                handler)
        }
        return observe(
            ObservationRequest(
                name, from: sender, on: target, once: once, key: key, backlog: backlog, at: fileID, line),
            handler)
    }

    /// Observes on the main actor until the returned token goes, or is stopped (P1).
    ///
    /// As `observe(_:from:on:once:key:backlog:fileID:line:_:)`; posted to from the main queue, the handler runs inline unless
    /// something is already pending there (D3).
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained: when it has ended, so has the observer
    ///     (M5). Leave it out for any sender.
    ///   - target: The main actor, as `.mainActor`.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this center has a given key; this one replaces it (M7).
    ///   - backlog: How many of its deliveries may wait on the target (D8).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run, on the main actor. It is released when the observer ends (R8).
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, on target: MainActorTarget,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (Notification) -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name, from: sender, on: .main, isIsolated: true, once: once, key: key, backlog: backlog, at: fileID,
                line)
        ) { notification in
            onMainActor(notification) { handler($0) }
        }
    }

    /// Observes with an async handler until the returned token goes, or is stopped.
    ///
    /// The handler is called as is the async one of an observer with an owner: in posting order, one call at a time, and
    /// cancelled when the observer is stopped (P4).
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained: when it has ended, so has the observer
    ///     (M5). Leave it out for any sender.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this center has a given key; this one replaces it (M7).
    ///   - backlog: How many of its deliveries may wait on the target (D8).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run, in a task of the observer's own. It is released when the observer ends (R8).
    @_disfavoredOverload
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable @isolated(any) (Notification) async -> Void
    ) -> NotificationObserver {
        let request = AsyncObservationRequest(
            name, from: sender, once: once, key: key, backlog: backlog, at: fileID, line)
        return observe(request.request) { [hook = request.hook(on: handler.isolation)] notification in
            // SAFETY: handed to the handler's task, as to the thread of any other target: the caller answers for that.
            nonisolated(unsafe) let notification = notification
            hook.call { _ in unsafe await handler(notification) }
        }
    }

    // MARK: As long as an owner lives

    /// Observes as long as an object, the owner, lives.
    ///
    /// ```swift
    /// center.observe(.modelDidChange, owner: self, on: .mainActor) {
    ///     sidebar, note in
    ///     sidebar.reload(note)
    /// }                                          // nothing to remove
    /// ```
    ///
    /// The owner needs nothing for this, and is never retained by it, except while the handler runs. When its last
    /// strong reference goes, the observer ends before the first line of the owner's `deinit`
    /// (O1-O4). The handler is handed its owner, so it has no need of
    /// `[weak self]`.
    ///
    /// An owner that is not `Sendable` is handed over on the thread where the handler runs: the caller answers for that
    /// being right, as with target/action. The checked ways are `on: .mainActor`, and `connect` with a method of the main
    /// actor.
    ///
    /// Complexity: O(1) amortised. Any thread.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained (M5). Leave it out for any sender.
    ///   - owner: The object whose life bounds the observer.
    ///   - target: Where the handler runs: on the posting thread, inside the post, if left out.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this owner on this center has a given key; this one replaces it (M7).
    ///   - backlog: How many of its deliveries may wait on the target (D8).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run, with the owner and the notification.
    /// - Returns: The token, which need not be kept. It is inactive if `owner` or `sender` is being deinitialised.
    @discardableResult
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        on target: DeliveryTarget = .postingThread, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver {
        // As without an owner.
        if target.isPoster, key == nil, backlog.limit == .max, isOwn, Omitted.stands(for: sender) {
            ObjectArgument.owner.check(owner, call: #function)
            // SAFETY: the type was asked for.
            return unsafe unsafeDowncast(self, to: ObserverCenter.self).observeAtOnce(
                name, owner: owner, flags: once ? Registration.State.once : 0,
                site: RegistrationSite(file: fileID, line: line), handler)
        }
        return observe(
            ObservationRequest(
                name, from: sender, on: target, once: once, key: key, backlog: backlog, at: fileID, line),
            for: owner, handler)
    }

    /// Observes on the main actor as long as an object, the owner, lives (P1).
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained (M5). Leave it out for any sender.
    ///   - owner: The object whose life bounds the observer.
    ///   - target: The main actor, as `.mainActor`.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this owner on this center has a given key; this one replaces it (M7).
    ///   - backlog: How many of its deliveries may wait on the target (D8).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run, on the main actor, with the owner and the notification.
    @discardableResult
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        on target: MainActorTarget, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name, from: sender, on: .main, isIsolated: true, once: once, key: key, backlog: backlog, at: fileID,
                line),
            for: owner
        ) { owner, notification in
            // SAFETY: the owner stays on this thread, which has the main actor for the call.
            nonisolated(unsafe) let owner = owner
            onMainActor(notification) { unsafe handler(owner, $0) }
        }
    }

    /// Observes with an async handler as long as an object, the owner, lives.
    ///
    /// ```swift
    /// center.observe(.modelDidChange, owner: library) {
    ///     library, note in await library.save()
    /// }
    /// ```
    ///
    /// *Delivery*: the posting thread never waits. The handler runs in a task of the observer's own, for one notification after the
    /// other, in posting order: the next call begins when the last one has returned (P4). What is
    /// pending when the observer ends is dropped. A call that is under way is cancelled, unless it stopped the observer
    /// itself, is that of a `once` observer, or the sender has ended; `await cancelAndWait()` waits for it. A handler that
    /// is isolated to an actor (`{ @MainActor library, note in … }`) is called by that actor: what waits for it is pending,
    /// and stopped there it never runs (R1). The owner is held from when the handler is called until it
    /// has returned, and let go of on that actor (O9). The token's `target` cannot be switched.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained (M5). Leave it out for any sender.
    ///   - owner: The object whose life bounds the observer.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this owner on this center has a given key; this one replaces it (M7).
    ///   - backlog: How many of its deliveries may wait on the target (D8).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run, in a task of the observer's own, with the owner and the notification.
    @discardableResult
    @_disfavoredOverload
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable @isolated(any) (Owner, Notification) async -> Void
    ) -> NotificationObserver {
        let request = AsyncObservationRequest(
            name, from: sender, once: once, key: key, backlog: backlog, at: fileID, line)
        return observe(request.request, for: owner) {
            [hook = request.hook(on: handler.isolation)] owner, notification in
            // SAFETY: handed to the handler's task, as to the thread of any other target: the caller answers for that.
            nonisolated(unsafe) let (owner, notification) = (owner, notification)
            hook.call { _ in unsafe await handler(owner, notification) }
        }
    }

    // MARK: As long as an actor lives

    /// Observes as long as an actor, the owner, lives, with a handler that is isolated to it (P2).
    ///
    /// ```swift
    /// center.observe(.modelDidChange, owner: index) {
    ///     (index: isolated Index, note) in
    ///     index.generation += 1         // on the actor: no `await`
    /// }
    /// center.observe(.modelDidClose, owner: index) { $0.close($1) }
    /// ```
    ///
    /// *Delivery*: on the actor, whatever its executor, in posting order across all observers that are isolated to it; also
    /// what the actor itself posts comes later. A burst of posts is one task (D7). The target cannot
    /// be switched.
    ///
    /// The owner is not retained, except while something waits for it or its handler runs (O2): what
    /// was posted before the last other reference went is delivered, and then the actor goes.
    ///
    /// Where a target is given (`on:`), a closure is not isolated, and called on that target. `connect` takes a
    /// `nonisolated` method; an isolated one is called in a closure, as above.
    ///
    /// Complexity: O(1) amortised. Any thread.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained (M5). Leave it out for any sender.
    ///   - owner: The actor whose life bounds the observer, and on which the handler runs.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this owner on this center has a given key; this one replaces it (M7).
    ///   - backlog: How many of its deliveries may wait on the target (D8).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run on the actor, with the actor and the notification.
    /// - Returns: The token, which need not be kept. It is inactive if `owner` or `sender` is being deinitialised.
    @discardableResult
    public func observe<Owner: Actor, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (isolated Owner, Notification) -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name, from: sender, on: .actor(owner), isIsolated: true, once: once, key: key,
                backlog: backlog, at: fileID, line),
            for: owner
        ) { owner, notification in
            // SAFETY: the notification stays on this thread, which has the actor for the call.
            nonisolated(unsafe) let notification = notification
            owner.assumeIsolated { unsafe handler($0, notification) }
        }
    }

    // MARK: Async functions that run where they are called
    //
    // Named functions of a module with the upcoming feature `NonisolatedNonsendingByDefault` convert to no `@isolated(any)`. A
    // closure fits both, and the other forms better.

    @_documentation(visibility: internal)
    @_disfavoredOverload
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        nonsending _: Never? = nil, _ handler: nonisolated(nonsending) @escaping @Sendable (Notification) async -> Void
    ) -> NotificationObserver {
        let called: @Sendable @isolated(any) (Notification) async -> Void = { await handler($0) }
        return observe(name, from: sender, once: once, key: key, backlog: backlog, fileID: fileID, line: line, called)
    }

    @_documentation(visibility: internal)
    @discardableResult
    @_disfavoredOverload
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        nonsending _: Never? = nil,
        _ handler: nonisolated(nonsending) @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver {
        let called: @Sendable @isolated(any) (Owner, Notification) async -> Void = { await handler($0, $1) }
        return observe(
            name, from: sender, owner: owner, once: once, key: key, backlog: backlog, fileID: fileID, line: line, called
        )
    }

    // MARK: Registering

    /// Registers a handler for an observer that only its token holds.
    func observe(
        _ request: ObservationRequest, _ handler: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver {
        let observer = NotificationObserver()
        request.register(observer, with: self, handler: handler)
        return observer
    }

    /// Registers a handler for an observer that is attached to an owner.
    func observe<Owner: AnyObject>(
        _ request: ObservationRequest, for owner: Owner, _ handler: @escaping @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver {
        let observer = NotificationObserver()
        request.register(observer, with: self, owner: owner, handler: handler)
        return observer
    }
}

/// Calls a main-actor function from the main queue.
func onMainActor(_ notification: Notification, _ body: @MainActor (Notification) -> Void) {
    // SAFETY: the notification stays on this thread, which has the main actor for the call.
    nonisolated(unsafe) let notification = notification
    MainActor.assumeIsolated { unsafe body(notification) }
}
