public import Foundation

extension NotifyingCenter {
    /// Observes as long as an object, the owner, lives, by calling one of its methods: target/action without selectors.
    ///
    /// ```swift
    /// center.observe(.modelDidClose, owner: self, call: Sidebar.close)    // func close(_ note: Notification)
    /// ```
    ///
    /// The method's isolation is read at registration: one that is isolated to the main actor, or to another actor, is
    /// called on that actor, whatever `target` says (P1).
    ///
    /// A compiler's limit: Swift 6.3 makes one conversion of all methods of a class that have the same parameters, so a
    /// class that passes both a method of the main actor and a `nonisolated` one here may have both taken for the same.
    /// For the main actor's say `on: .mainActor, call:`, which does not read anything, or pass a closure. And it refuses,
    /// with "function has wrong linkage", a method of a class that is isolated to a global actor of your own which is not
    /// public.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained (M5). Leave it out for any sender.
    ///   - owner: The object whose life bounds the observer, and whose method is called.
    ///   - target: Where the method runs, unless it is isolated to an actor.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this owner on this center has a given key; this one replaces it (M7).
    ///   - method: The method, as `Type.method`.
    /// - Returns: The token, which need not be kept. It is inactive if `owner` or `sender` is being deinitialised.
    @discardableResult
    @_disfavoredOverload
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, owner: Owner,
        on target: DeliveryTarget = .poster, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Owner) -> @isolated(any) (Notification) -> Void
    ) -> NotificationObserver {
        let isolation = method(owner).isolation
        return observe(
            ObservationRequest(
                name, from: sender, on: ObservationRequest.target(target, isolation: isolation),
                isIsolated: isolation != nil, once: once, key: key, at: fileID, line),
            for: owner, Calling.method(method))
    }

    /// Observes as long as an object, the owner, lives, by calling one of its main-actor methods (P1).
    ///
    /// The compiler checks here what `observe(_:from:owner:on:once:key:fileID:line:call:)` reads at registration.
    @discardableResult
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, owner: Owner,
        on target: MainActorTarget, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Owner) -> @MainActor (Notification) -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line),
            for: owner, Calling.mainActorMethod(method))
    }

    /// Observes as long as an object, the owner, lives, by calling one of its main-actor methods without the notification
    /// (P1).
    @discardableResult
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, owner: Owner,
        on target: MainActorTarget, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Owner) -> @MainActor () -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line),
            for: owner, Calling.mainActorMethod(method))
    }

    /// Observes as long as an object, the owner, lives, by calling one of its methods without the notification.
    ///
    /// See `observe(_:from:owner:on:once:key:fileID:line:call:)-(Notification)`.
    @discardableResult
    @_disfavoredOverload
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, owner: Owner,
        on target: DeliveryTarget = .poster, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Owner) -> @isolated(any) () -> Void
    ) -> NotificationObserver {
        let isolation = method(owner).isolation
        return observe(
            ObservationRequest(
                name, from: sender, on: ObservationRequest.target(target, isolation: isolation),
                isIsolated: isolation != nil, once: once, key: key, at: fileID, line),
            for: owner, Calling.method(method))
    }
}
