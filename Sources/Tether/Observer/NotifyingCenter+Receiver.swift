public import Foundation

// A method of an object that is not the owner.

extension NotifyingCenter {
    // MARK: Held by the token

    /// Observes until the returned token goes, or is stopped, by calling a method of an object, the receiver.
    ///
    /// ```swift
    /// let token = center.observe(.modelDidChange, receiver: sidebar, on: .main, call: Sidebar.reload)
    /// ```
    ///
    /// The receiver is not retained, except while its method runs; the observer ends with it, too, before its `deinit`. To
    /// have it end with the receiver alone, say `owner:` instead. The method's isolation is read as by
    /// `observe(_:from:owner:on:once:key:fileID:line:call:)`.
    ///
    /// Complexity: O(1) amortised. Any thread.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained (M5). Leave it out for any sender.
    ///   - receiver: The object whose method is called.
    ///   - target: Where the method runs, unless it is isolated to an actor.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of a center has a given key; this one replaces it (M7).
    ///   - method: The method, as `Type.method`.
    /// - Returns: The token. It is inactive if `sender` or `receiver` is being deinitialised.
    @_disfavoredOverload
    public func observe<Receiver: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, receiver: Receiver,
        on target: DeliveryTarget = .poster, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Receiver) -> @isolated(any) (Notification) -> Void
    ) -> NotificationObserver {
        let isolation = method(receiver).isolation
        return observe(
            ObservationRequest(
                name, from: sender, on: ObservationRequest.target(target, isolation: isolation),
                isIsolated: isolation != nil, once: once, key: key, at: fileID, line),
            receiver: receiver, Calling.method(method))
    }

    /// Observes until the returned token goes, or is stopped, by calling one of the receiver's main-actor
    /// methods (P1).
    public func observe<Receiver: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, receiver: Receiver,
        on target: MainActorTarget, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Receiver) -> @MainActor (Notification) -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line),
            receiver: receiver, Calling.mainActorMethod(method))
    }

    /// Observes until the returned token goes, or is stopped, by calling one of the receiver's main-actor methods without
    /// the notification (P1).
    public func observe<Receiver: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, receiver: Receiver,
        on target: MainActorTarget, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Receiver) -> @MainActor () -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line),
            receiver: receiver, Calling.mainActorMethod(method))
    }

    /// Observes until the returned token goes, or is stopped, by calling a method of the receiver without the
    /// notification.
    @_disfavoredOverload
    public func observe<Receiver: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, receiver: Receiver,
        on target: DeliveryTarget = .poster, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Receiver) -> @isolated(any) () -> Void
    ) -> NotificationObserver {
        let isolation = method(receiver).isolation
        return observe(
            ObservationRequest(
                name, from: sender, on: ObservationRequest.target(target, isolation: isolation),
                isIsolated: isolation != nil, once: once, key: key, at: fileID, line),
            receiver: receiver, Calling.method(method))
    }

    // MARK: Attached to an owner

    /// Observes as long as an object, the owner, lives, by calling a method of another object, the receiver.
    ///
    /// ```swift
    /// center.observe(.modelDidChange, owner: document, receiver: sidebar, on: .main, call: Sidebar.reload)
    /// ```
    ///
    /// Neither is retained, except while the method runs. The observer ends with the first of the two to go, before that
    /// one's `deinit`. The method's isolation is read as by `observe(_:from:owner:on:once:key:fileID:line:call:)`.
    ///
    /// Complexity: O(1) amortised. Any thread.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained (M5). Leave it out for any sender.
    ///   - owner: The object whose life bounds the observer, and among whose observers it is listed (O7).
    ///   - receiver: The object whose method is called.
    ///   - target: Where the method runs, unless it is isolated to an actor.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this owner on this center has a given key; this one replaces it (M7).
    ///   - method: The method, as `Type.method`.
    /// - Returns: The token, which need not be kept. It is inactive if one of the objects is being deinitialised.
    @discardableResult
    @_disfavoredOverload
    public func observe<Owner: AnyObject, Receiver: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, owner: Owner,
        receiver: Receiver, on target: DeliveryTarget = .poster, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Receiver) -> @isolated(any) (Notification) -> Void
    ) -> NotificationObserver {
        let isolation = method(receiver).isolation
        return observe(
            ObservationRequest(
                name, from: sender, on: ObservationRequest.target(target, isolation: isolation),
                isIsolated: isolation != nil, once: once, key: key, at: fileID, line),
            for: owner, receiver: receiver, Calling.method(method))
    }

    /// Observes as long as an object, the owner, lives, by calling one of the receiver's main-actor
    /// methods (P1).
    @discardableResult
    public func observe<Owner: AnyObject, Receiver: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, owner: Owner,
        receiver: Receiver, on target: MainActorTarget, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Receiver) -> @MainActor (Notification) -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line),
            for: owner, receiver: receiver, Calling.mainActorMethod(method))
    }

    /// Observes as long as an object, the owner, lives, by calling one of the receiver's main-actor methods without the
    /// notification (P1).
    @discardableResult
    public func observe<Owner: AnyObject, Receiver: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, owner: Owner,
        receiver: Receiver, on target: MainActorTarget, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Receiver) -> @MainActor () -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line),
            for: owner, receiver: receiver, Calling.mainActorMethod(method))
    }

    /// Observes as long as an object, the owner, lives, by calling a method of the receiver without the
    /// notification.
    @discardableResult
    @_disfavoredOverload
    public func observe<Owner: AnyObject, Receiver: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, owner: Owner,
        receiver: Receiver, on target: DeliveryTarget = .poster, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Receiver) -> @isolated(any) () -> Void
    ) -> NotificationObserver {
        let isolation = method(receiver).isolation
        return observe(
            ObservationRequest(
                name, from: sender, on: ObservationRequest.target(target, isolation: isolation),
                isIsolated: isolation != nil, once: once, key: key, at: fileID, line),
            for: owner, receiver: receiver, Calling.method(method))
    }

    private func observe<Receiver: AnyObject>(
        _ request: ObservationRequest, receiver: Receiver, _ call: @escaping Calling<Receiver>.Body
    ) -> NotificationObserver {
        let observer = NotificationObserver()
        request.register(observer, with: self, receiver: receiver, call)
        return observer
    }

    private func observe<Owner: AnyObject, Receiver: AnyObject>(
        _ request: ObservationRequest, for owner: Owner, receiver: Receiver, _ call: @escaping Calling<Receiver>.Body
    ) -> NotificationObserver {
        let observer = NotificationObserver()
        guard let held = HeldForCalls(receiver) else { return observer }
        request.register(observer, with: self, owner: owner, receiver: receiver) { (_: Owner, notification) in
            held.take().map { call($0, notification) }
        }
        return observer
    }
}

extension ObservationRequest {
    /// Registers the call of a receiver, for an observer that only its token holds.
    func register<Receiver: AnyObject>(
        _ observer: NotificationObserver, with center: any NotifyingCenter, receiver: Receiver,
        _ call: @escaping Calling<Receiver>.Body
    ) {
        // One that is configured anew is idle then, too.
        guard let held = HeldForCalls(receiver) else { return observer.stop() }
        register(observer, with: center, receiver: receiver) { notification in
            held.take().map { call($0, notification) }
        }
    }
}

/// A receiver, which is only held while it is called (O4, O9).
private final class HeldForCalls<Receiver: AnyObject>: Sendable {
    private let reference: OwnerReference<Receiver>

    init?(_ receiver: Receiver) {
        guard let reference = OwnerReference(receiver) else { return nil }
        self.reference = reference
    }

    func take() -> Receiver? { reference.take() }
}
