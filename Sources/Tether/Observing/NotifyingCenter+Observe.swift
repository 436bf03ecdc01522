public import Foundation

extension NotifyingCenter {
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
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run. It is released when the observer ends (R8).
    /// - Returns: The token. It is inactive if `sender` is being deinitialised.
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, on target: DeliveryTarget = .postingThread,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver {
        // The usual case, of which a request would be half of the cost.
        if target.isPoster, key == nil, isOwn, Omitted.stands(for: sender) {
            // SAFETY: the type was asked for.
            return unsafe unsafeDowncast(self, to: ObserverCenter.self).observeAtOnce(
                name, flags: once ? Registration.State.once : 0, site: RegistrationSite(file: fileID, line: line),
                handler)
        }
        return observe(
            ObservationRequest(
                name, from: sender, on: target, once: once, key: key, at: fileID, line),
            handler)
    }

    /// Observes on the main actor until the returned token goes, or is stopped (P1).
    ///
    /// As `observe(_:from:on:once:key:fileID:line:_:)`; posted to from the main queue, the handler runs inline unless
    /// something is already pending there (D3).
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained: when it has ended, so has the observer
    ///     (M5). Leave it out for any sender.
    ///   - target: The main actor, as `.mainActor`.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this center has a given key; this one replaces it (M7).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run, on the main actor. It is released when the observer ends (R8).
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, on target: MainActorTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (Notification) -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line)
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
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run, in a task of the observer's own. It is released when the observer ends (R8).
    @_disfavoredOverload
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable @isolated(any) (Notification) async -> Void
    ) -> NotificationObserver {
        let request = AsyncObservationRequest(name, from: sender, once: once, key: key, at: fileID, line)
        return observe(request.request) { [hook = request.hook(on: handler.isolation)] notification in
            // SAFETY: handed to the handler's task, as to the thread of any other target: the caller answers for that.
            nonisolated(unsafe) let notification = notification
            hook.call { _ in unsafe await handler(notification) }
        }
    }

    /// Registers a handler for an observer that only its token holds.
    func observe(
        _ request: ObservationRequest, _ handler: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver {
        let observer = NotificationObserver()
        request.register(observer, with: self, handler: handler)
        return observer
    }
}

/// Calls a main-actor function from the main queue.
func onMainActor(_ notification: Notification, _ body: @MainActor (Notification) -> Void) {
    // SAFETY: the notification stays on this thread, which has the main actor for the call.
    nonisolated(unsafe) let notification = notification
    MainActor.assumeIsolated { unsafe body(notification) }
}
