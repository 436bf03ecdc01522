public import Foundation

extension NotificationObserver {
    /// Registers a method of an object as this observer's only handler, in place of the one it had.
    ///
    /// ```swift
    /// observer.connect(.modelDidChange, from: model, to: Sidebar.reload, of: sidebar)
    /// ```
    ///
    /// The object is not retained, except while the method runs; when it goes, the observer is idle. Where the method runs
    /// is chosen as by the center's `connect`. Only for observers made with `init(center:)`.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe; any, if left out. It is not retained.
    ///   - method: The method, as `Type.method`. It takes the notification, or nothing.
    ///   - object: The object whose method is called.
    ///   - target: Where the method runs: on the posting thread, inside the post, if left out.
    ///   - once: Whether the observer ends after it has run once.
    ///   - key: At most one live observer of a center has a given key; this one replaces it (M7).
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> (Notification) -> Void, of object: Object,
        on target: DeliveryTarget = .poster, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        connect(
            ObservationRequest(name, from: sender, on: target, once: once, key: key, at: fileID, line),
            to: Calling.method(method), of: object)
    }

    /// Registers a method that takes nothing as this observer's only handler.
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> () -> Void, of object: Object,
        on target: DeliveryTarget = .poster, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        connect(
            ObservationRequest(name, from: sender, on: target, once: once, key: key, at: fileID, line),
            to: Calling.method(method), of: object)
    }

    /// Registers a method of the main actor, called on the main actor, as this observer's only handler (P1).
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> @MainActor (Notification) -> Void, of object: Object,
        on target: MainActorTarget = .mainActor, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        connect(
            ObservationRequest(name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line),
            to: Calling.mainActorMethod(method), of: object)
    }

    /// Registers a method of the main actor that takes nothing, called on the main actor, as this observer's only
    /// handler (P1).
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> @MainActor () -> Void, of object: Object,
        on target: MainActorTarget = .mainActor, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        connect(
            ObservationRequest(name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line),
            to: Calling.mainActorMethod(method), of: object)
    }

    private func connect<Object: AnyObject>(
        _ request: ObservationRequest, to call: @escaping Calling<Object>.Body, of object: Object
    ) {
        // One that was configured before is idle then, too.
        guard let held = HeldForCalls(object) else { return stop() }
        request.register(self, with: propertyCenter, receiver: object, handler: held.calling(call))
    }
}

// Calls that do not compile, and stand here for the reasons that NotifyingCenter+Connect.swift gives.

// Not covered: no program that calls one of these compiles.

extension NotificationObserver {
    @_documentation(visibility: internal)
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Method, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> Method, of object: Object, on target: DeliveryTarget = .poster,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrTakesOtherParametersSoCallItInAClosure _:
            Never? = nil
    ) {}

    @_documentation(visibility: internal)
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Method, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> Method, of object: Object, on target: DeliveryTarget = .poster,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrTakesOtherParametersSoCallItInAClosure _: (
        ) = ()
    ) {}
}
