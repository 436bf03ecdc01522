public import Foundation

// The property form: one observer that is idle, configured, configured again, and idle again.

extension NotificationObserver {
    /// Registers this observer's only handler, in place of the one it had.
    ///
    /// ```swift
    /// private let observer = NotificationObserver(center: .default)
    ///
    /// observer.observe(.modelDidChange, from: model, on: .mainActor) {
    ///     [weak self] note in self?.reload(note)
    /// }
    /// observer.observe(.modelDidClose) { note in … }    // instead
    /// observer.cancel()                                   // idle again
    /// ```
    ///
    /// Notifications enqueued for the old handler never reach the new one. Only for observers made with `init(center:)`.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe; any, if left out. It is not retained.
    ///   - target: Where the handler runs.
    ///   - once: Whether the observer ends after it has run once.
    ///   - key: At most one live observer of a center has a given key; this one replaces it (M7).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run. To have it end with an object, keep this observer as that object's property, and capture
    ///     the object weakly.
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, on target: DeliveryTarget = .postingThread,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Notification) -> Void
    ) {
        configure(
            ObservationRequest(name, from: sender, on: target, once: once, key: key, at: fileID, line), handler)
    }

    /// Registers this observer's only handler, one of the main actor, in place of the one it had (P1).
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe; any, if left out. It is not retained.
    ///   - target: The main actor, as `.mainActor`.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this center has a given key; this one replaces it (M7).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - handler: What to run, on the main actor. Capture the object that keeps this observer weakly.
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, on target: MainActorTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (Notification) -> Void
    ) {
        configure(
            ObservationRequest(
                name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line)
        ) { notification in
            onMainActor(notification) { handler($0) }
        }
    }

    private func configure(_ request: ObservationRequest, _ handler: @escaping @Sendable (Notification) -> Void) {
        request.register(self, with: propertyCenter, handler: handler)
    }

    var propertyCenter: any NotifyingCenter {
        guard let centerOfProperty else {
            // Not covered: ends the process; MisuseTests run it apart.
            fatalError(
                "NotificationObserver.observe(_:): this observer came from a center's observe(_:) and has its handler "
                    + "already; call observe(_:) on the center for another one, or make one with init(center:).")
        }
        return centerOfProperty
    }
}
