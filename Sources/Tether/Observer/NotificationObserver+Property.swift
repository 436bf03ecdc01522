public import Foundation

// The property form: one observer that is idle, configured, configured again, and idle again.

extension NotificationObserver {
    /// Registers this observer's only handler, in place of the one it had.
    ///
    /// ```swift
    /// private let observer = NotificationObserver(center: .default)
    ///
    /// observer.observe(.modelDidChange, from: model, on: .main) { [weak self] _ in self?.reload() }
    /// observer.observe(.modelDidClose) { … }                      // instead of the first
    /// observer.stop()                                             // idle again
    /// ```
    ///
    /// What was enqueued for the old handler never reaches the new one. Only for observers made with `init(center:)`.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe; any, if left out. It is not retained.
    ///   - target: Where the handler runs.
    ///   - once: Whether the observer ends after it has run once.
    ///   - handler: What to run. To have it end with an object, keep this observer as that object's property, and capture
    ///     the object weakly.
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, on target: DeliveryTarget = .poster,
        once: Bool = false, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Notification) -> Void
    ) {
        configure(
            ObservationRequest(name, from: sender, on: target, once: once, key: nil, at: fileID, line), handler)
    }

    /// Registers this observer's only handler, one of the main actor, in place of the one it had (P1).
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, on target: MainActorTarget,
        once: Bool = false, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (Notification) -> Void
    ) {
        configure(
            ObservationRequest(
                name, from: sender, on: .main, isIsolated: true, once: once, key: nil, at: fileID, line)
        ) { notification in
            onMainActor(notification) { handler($0) }
        }
    }

    /// Registers a method of an object as this observer's only handler, in place of the one it had.
    ///
    /// ```swift
    /// observer.observe(.modelDidChange, from: model, receiver: sidebar, on: .main, call: Sidebar.reload)
    /// ```
    ///
    /// The receiver is not retained; when it goes, the observer is idle. Its method's isolation is read as by the
    /// center's `observe(_:from:owner:on:once:key:fileID:line:call:)`.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe; any, if left out. It is not retained.
    ///   - receiver: The object whose method is called.
    ///   - target: Where the method runs, unless it is isolated to an actor.
    ///   - once: Whether the observer ends after it has run once.
    ///   - method: The method, as `Type.method`.
    @_disfavoredOverload
    public func observe<Receiver: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, receiver: Receiver,
        on target: DeliveryTarget = .poster, once: Bool = false, fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Receiver) -> @isolated(any) (Notification) -> Void
    ) {
        let isolation = method(receiver).isolation
        configure(
            ObservationRequest(
                name, from: sender, on: ObservationRequest.target(target, isolation: isolation),
                isIsolated: isolation != nil, once: once, key: nil, at: fileID, line),
            receiver: receiver, Calling.method(method))
    }

    /// Registers a main-actor method of an object as this observer's only handler, in place of the one it had (P1).
    public func observe<Receiver: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, receiver: Receiver,
        on target: MainActorTarget, once: Bool = false, fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Receiver) -> @MainActor (Notification) -> Void
    ) {
        configure(
            ObservationRequest(
                name, from: sender, on: .main, isIsolated: true, once: once, key: nil, at: fileID, line),
            receiver: receiver, Calling.mainActorMethod(method))
    }

    /// Registers a main-actor method of an object that takes no notification as this observer's only handler, in place of
    /// the one it had (P1).
    public func observe<Receiver: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, receiver: Receiver,
        on target: MainActorTarget, once: Bool = false, fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Receiver) -> @MainActor () -> Void
    ) {
        configure(
            ObservationRequest(
                name, from: sender, on: .main, isIsolated: true, once: once, key: nil, at: fileID, line),
            receiver: receiver, Calling.mainActorMethod(method))
    }

    /// Registers a method of an object that takes no notification as this observer's only handler, in place of the one
    /// it had.
    @_disfavoredOverload
    public func observe<Receiver: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any, receiver: Receiver,
        on target: DeliveryTarget = .poster, once: Bool = false, fileID: StaticString = #fileID, line: UInt = #line,
        call method: @escaping @Sendable (Receiver) -> @isolated(any) () -> Void
    ) {
        let isolation = method(receiver).isolation
        configure(
            ObservationRequest(
                name, from: sender, on: ObservationRequest.target(target, isolation: isolation),
                isIsolated: isolation != nil, once: once, key: nil, at: fileID, line),
            receiver: receiver, Calling.method(method))
    }

    private func configure(_ request: ObservationRequest, _ handler: @escaping @Sendable (Notification) -> Void) {
        request.register(self, with: propertyCenter, handler: handler)
    }

    private func configure<Receiver: AnyObject>(
        _ request: ObservationRequest, receiver: Receiver, _ call: @escaping Calling<Receiver>.Body
    ) {
        request.register(self, with: propertyCenter, receiver: receiver, call)
    }

    private var propertyCenter: any NotifyingCenter {
        guard let homeCenter else {
            // Not covered: ends the process; MisuseTests run it apart.
            fatalError(
                "NotificationObserver.observe(_:): this observer came from a center's observe(_:) and has its handler "
                    + "already; call observe(_:) on the center for another one, or make one with init(center:).")
        }
        return homeCenter
    }
}
