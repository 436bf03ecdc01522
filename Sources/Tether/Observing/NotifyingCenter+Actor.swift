public import Foundation

extension NotifyingCenter {
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
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run on the actor, with the actor and the notification.
    /// - Returns: The token, which need not be kept. It is inactive if `owner` or `sender` is being deinitialised.
    @discardableResult
    public func observe<Owner: Actor, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (isolated Owner, Notification) -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name, from: sender, on: .actor(owner), isIsolated: true, once: once, key: key,
                at: fileID, line),
            for: owner
        ) { owner, notification in
            // SAFETY: the notification stays on this thread, which has the actor for the call.
            nonisolated(unsafe) let notification = notification
            owner.assumeIsolated { unsafe handler($0, notification) }
        }
    }
}
