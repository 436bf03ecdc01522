public import Foundation

extension NotifyingCenter {
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
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run, with the owner and the notification.
    /// - Returns: The token, which need not be kept. It is inactive if `owner` or `sender` is being deinitialised.
    @discardableResult
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        on target: DeliveryTarget = .postingThread, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver {
        // As without an owner.
        if target.isPoster, key == nil, isOwn, Omitted.stands(for: sender) {
            ObjectArgument.owner.check(owner, call: #function)
            // SAFETY: the type was asked for.
            return unsafe unsafeDowncast(self, to: ObserverCenter.self).observeAtOnce(
                name, owner: owner, flags: once ? Registration.State.once : 0,
                site: RegistrationSite(file: fileID, line: line), handler)
        }
        return observe(
            ObservationRequest(
                name, from: sender, on: target, once: once, key: key, at: fileID, line),
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
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run, on the main actor, with the owner and the notification.
    @discardableResult
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        on target: MainActorTarget, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line),
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
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run, in a task of the observer's own, with the owner and the notification.
    @discardableResult
    @_disfavoredOverload
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable @isolated(any) (Owner, Notification) async -> Void
    ) -> NotificationObserver {
        let request = AsyncObservationRequest(name, from: sender, once: once, key: key, at: fileID, line)
        return observe(request.request, for: owner) {
            [hook = request.hook(on: handler.isolation)] owner, notification in
            // SAFETY: handed to the handler's task, as to the thread of any other target: the caller answers for that.
            nonisolated(unsafe) let (owner, notification) = (owner, notification)
            hook.call { _ in unsafe await handler(owner, notification) }
        }
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
