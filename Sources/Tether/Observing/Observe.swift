public import Foundation

// The forms of `observe`. A form with a token or an owner takes a synchronous, a main-actor or an
// async handler. The form for an actor as owner takes a handler isolated to the actor.

extension NotifyingCenter {
    // MARK: Held by a token

    /// Observes until the returned token is released or cancelled.
    ///
    /// ```swift
    /// let token = center.observe(.modelDidChange, from: model) {
    ///     note in …
    /// }
    /// ```
    ///
    /// The handler receives the posts that begin after the registration. Complexity: O(1)
    /// amortised. Any thread.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, not retained, whose end ends the observer. Any sender if
    ///     omitted.
    ///   - target: Where the handler runs, see ``DeliveryTarget``; on the posting thread, inside
    ///     the post, if omitted.
    ///   - once: Whether the observer ends after one run.
    ///   - key: A key with pure `==` and `hash(into:)`; the new observer replaces the center's live
    ///     observer with an equal key.
    ///   - backlog: How many of the observer's deliveries may wait on the target.
    ///   - fileID: The file of the call, for audits and reports.
    ///   - line: The line of the call.
    ///   - handler: The code to run, released when the observer ends.
    /// - Returns: The token, inactive if `sender` is being deinitialized.
    public func observe(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        on target: DeliveryTarget = .postingThread,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver {
        if let core = coreOfFastPath(from: sender, on: target, key: key, backlog: backlog) {
            return unsafe core.observeFastPath(
                name,
                .passRetained(
                    PlainRegistration(
                        center: core, flags: once ? Registration.StateBits.once : 0,
                        site: RegistrationSite(file: fileID, line: line), handler: handler)))
        }
        return observe(
            ObservationRequest(
                name, from: sender, on: target, once: once, key: key, backlog: backlog,
                fileID: fileID, line: line),
            handler)
    }

    /// Observes on the main actor until the returned token is released or cancelled.
    ///
    /// With `.mainActor`, a post on the main queue calls the handler inline, unless a delivery of
    /// the center waits there; with `.mainActorAsync` the handler always runs in a later turn. All
    /// else is as for ``observe(_:from:on:once:key:backlog:fileID:line:_:)``.
    public func observe(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        on target: MainActorTarget,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (Notification) -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name, from: sender, on: target.delivery, isIsolated: true, once: once, key: key,
                backlog: backlog, fileID: fileID, line: line)
        ) {
            onMainActor($0, handler)
        }
    }

    /// Observes with an async handler until the returned token is released or cancelled.
    ///
    /// See ``observe(_:from:owner:once:key:backlog:fileID:line:_:)`` for the delivery.
    @_disfavoredOverload
    public func observe(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable @isolated(any) (Notification) async -> Void
    ) -> NotificationObserver {
        let hook = AsyncHandlerHook(on: handler.isolation)
        let request = ObservationRequest(
            name, from: sender, on: hook.target, isIsolated: true, once: once, key: key,
            backlog: backlog, fileID: fileID, line: line, hook: hook)
        return observe(request) { notification in
            // SAFETY: the notification passes to the handler's task, as to any target's thread; the
            // caller answers for that.
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
    /// The owner needs no base class, property or removal code, and is retained only while the
    /// handler runs. When the owner's last strong reference is released, the observer ends before
    /// the first line of `deinit`. Where the Objective-C runtime gives the signal, the observer
    /// ends after the body of `deinit`. The handler receives the owner, and needs no `[weak self]`.
    ///
    /// The handler may receive an owner that is not `Sendable` on another thread. The caller
    /// answers for the access, as with target/action. The compiler checks `on: .mainActor`, and
    /// `connect` with a main-actor method.
    ///
    /// The handler receives the posts that begin after the registration. Complexity: O(1)
    /// amortised. Any thread.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, not retained, whose end ends the observer. Any sender if
    ///     omitted.
    ///   - owner: The object whose end ends the observer, not retained; any class instance.
    ///   - target: Where the handler runs, see ``DeliveryTarget``; on the posting thread, inside
    ///     the post, if omitted.
    ///   - once: Whether the observer ends after one run.
    ///   - key: A key with pure `==` and `hash(into:)`. The new observer replaces the live observer
    ///     of this owner and center with an equal key.
    ///   - backlog: How many of the observer's deliveries may wait on the target.
    ///   - fileID: The file of the call, for audits and reports.
    ///   - line: The line of the call.
    ///   - handler: The code to run, with the owner as its argument; released when the observer
    ///     ends.
    /// - Returns: The token, which need not be kept; inactive if `owner` or `sender` is being
    ///   deinitialized.
    @discardableResult
    public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument, owner: Owner,
        on target: DeliveryTarget = .postingThread, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver {
        if let core = coreOfFastPath(from: sender, on: target, key: key, backlog: backlog) {
            ObjectArgument.owner.check(owner, at: CallSite(fileID, line))
            return unsafe core.observeFastPath(
                name,
                .passRetained(
                    OwnedRegistration(
                        center: core, details: nil, flags: once ? Registration.StateBits.once : 0,
                        site: RegistrationSite(file: fileID, line: line), handler: handler)),
                owner: owner)
        }
        return observe(
            ObservationRequest(
                name, from: sender, on: target, once: once, key: key, backlog: backlog,
                fileID: fileID, line: line),
            for: owner, handler)
    }

    /// Observes on the main actor as long as an object, the owner, lives.
    @discardableResult
    public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument, owner: Owner,
        on target: MainActorTarget, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name, from: sender, on: target.delivery, isIsolated: true, once: once, key: key,
                backlog: backlog, fileID: fileID, line: line),
            for: owner
        ) { onMainActor($0, $1, handler) }
    }

    /// Observes with an async handler as long as an object, the owner, lives.
    ///
    /// ```swift
    /// center.observe(.modelDidChange, owner: library) {
    ///     library, note in await library.save()
    /// }
    /// ```
    ///
    /// *Delivery*: the posting thread never waits. The handler runs in the observer's own task, in
    /// posting order. The next call begins when the last call has returned. When the observer ends,
    /// pending notifications are dropped and a call under way is cancelled, unless the call itself,
    /// the sender's end or `finish()` ended the observer.
    ///
    /// A handler isolated to an actor (`{ @MainActor library, note in … }`) runs on that actor. A
    /// notification that waits for the actor is pending, and never reaches the handler after a
    /// `cancel()` on the actor. The owner is retained from the handler's call to the return, and
    /// released on the actor.
    @discardableResult
    @_disfavoredOverload
    public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable @isolated(any) (Owner, Notification) async -> Void
    ) -> NotificationObserver {
        let hook = AsyncHandlerHook(on: handler.isolation)
        let request = ObservationRequest(
            name, from: sender, on: hook.target, isIsolated: true, once: once, key: key,
            backlog: backlog, fileID: fileID, line: line, hook: hook)
        return observe(request, for: owner) { owner, notification in
            // SAFETY: both pass to the handler's task, as to any target's thread; the caller
            // answers for the transfer.
            nonisolated(unsafe) let (owner, notification) = (owner, notification)
            hook.call { _ in unsafe await handler(owner, notification) }
        }
    }

    // MARK: As long as an actor lives

    /// Observes as long as an actor, the owner, lives, with a handler isolated to the actor.
    ///
    /// ```swift
    /// center.observe(.modelDidChange, owner: index) {
    ///     (index: isolated Index, note) in
    ///     index.generation += 1         // on the actor: no `await`
    /// }
    /// center.observe(.modelDidClose, owner: index) { $0.close($1) }
    /// ```
    ///
    /// *Delivery*: on the actor, with any executor, in posting order for each observer; while no
    /// post of another priority waits, also across all observers isolated to the actor. The actor's
    /// own posts are delivered later, too. A post makes one task for all observers on the actor.
    ///
    /// The owner is retained only while a notification waits for the actor or the handler runs.
    /// Notifications posted before the release of the last other reference are delivered. With a
    /// target (`on:`), a closure is not isolated and runs on the target.
    @discardableResult
    public func observe<Owner: Actor>(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (isolated Owner, Notification) -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name, from: sender, on: .isolated(to: owner), isIsolated: true, once: once,
                key: key,
                backlog: backlog, fileID: fileID,
                line: line),
            for: owner
        ) { owner, notification in
            // SAFETY: the notification stays on the calling thread, which has the actor;
            // `ActorTarget` upholds that.
            nonisolated(unsafe) let notification = notification
            owner.assumeIsolated { unsafe handler($0, notification) }
        }
    }
}

/// Calls a main-actor function from the main queue.
func onMainActor(_ notification: Notification, _ body: @MainActor (Notification) -> Void) {
    onMainActor((), notification) { body($1) }
}

func onMainActor<Object>(
    _ object: Object, _ notification: Notification,
    _ body: @MainActor (Object, Notification) -> Void
) {
    // SAFETY: both stay on the calling thread; `assumeIsolated` checks for the main actor.
    nonisolated(unsafe) let (object, notification) = (object, notification)
    MainActor.assumeIsolated { unsafe body(object, notification) }
}
