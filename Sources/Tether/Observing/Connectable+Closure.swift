public import Foundation

extension Connectable {
    /// Observes by calling a closure with an object, as long as that object lives.
    ///
    /// ```swift
    /// center.connect(.modelDidChange, to: catalog) { $0.reload() }
    /// ```
    ///
    /// As `observe(_:from:owner:on:once:key:_:)`, for a closure that has no need of the notification. The object is its
    /// owner.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained (M5). Leave it out for any sender.
    ///   - object: The object that the closure is called with, which is not retained.
    ///   - target: Where the closure runs: on the posting thread, inside the post, if left out.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this owner on this center has a given key; this one replaces it (M7).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - call: What to run, with the object. It is released when the observer ends (R8).
    @discardableResult
    public func connect<Object: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, to object: Object,
        on target: DeliveryTarget = .postingThread, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, _ call: @escaping @Sendable (Object) -> Void
    ) -> NotificationObserver {
        connect(
            ObservationRequest(name, from: sender, on: target, once: once, key: key, at: fileID, line),
            to: { object, _ in call(object) }, of: object, owner: Omitted.argument)
    }

    /// Observes by calling a closure with an object, on the main actor (P1).
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained (M5). Leave it out for any sender.
    ///   - object: The object that the closure is called with, which is not retained.
    ///   - target: The main actor, as `.mainActor`.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this owner on this center has a given key; this one replaces it (M7).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - call: What to run, on the main actor, with the object. It is released when the observer ends (R8).
    @discardableResult
    public func connect<Object: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, to object: Object,
        on target: MainActorTarget, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, _ call: @escaping @MainActor @Sendable (Object) -> Void
    ) -> NotificationObserver {
        connect(
            ObservationRequest(name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line),
            to: Calling.mainActorClosure(call), of: object, owner: Omitted.argument)
    }
}

// Calls that do not compile, and stand here for the reasons that Connectable+Connect.swift gives.

// Not covered: no program that calls one of these compiles.

extension Connectable {
    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message: "leave out 'from:' to observe any sender, or pass a class instance that is not optional"
    )
    @discardableResult
    public func connect<Object: AnyObject>(
        _ name: Notification.Name?, from sender: Any?, to object: Object, on target: Any? = nil, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ call: @escaping @Sendable (Object) -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @available(*, unavailable, message: "an owner is a class instance or an actor, and not optional")
    @discardableResult
    public func connect<Object, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, to object: Object, on target: Any? = nil,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ call: @escaping @Sendable (Object) -> Void
    ) -> NotificationObserver { NotificationObserver() }
}
