public import Foundation

// Observing by the method of an object: target/action without selectors.

extension NotifyingCenter {
    /// Observes by calling a method of an object, as long as that object lives: target/action without selectors.
    ///
    /// ```swift
    /// center.connect(.modelDidClose, to: Sidebar.clear, of: self)
    /// center.connect(
    ///     .modelDidChange, from: model, to: Sidebar.reload,
    ///     of: sidebar, owner: document)
    /// ```
    ///
    /// The method takes the notification, or nothing; a result is discarded. Neither `object` nor `owner` is retained, except while the method
    /// runs (O4). Without an owner the observer ends with `object`, before its `deinit` (O3). With one it ends with the owner. If
    /// `object` has been deallocated before that, the observer ends at the next post at the latest.
    ///
    /// The method's isolation is part of its type, so that the compiler chooses where it runs: a method of the main actor
    /// runs on the main actor, whoever posts; a nonisolated one on `target` (P1). A method of
    /// another actor is called in a closure of `observe`; here it does not compile.
    ///
    /// In Swift 5 mode it does not compile, because there a method's type need not name its actor: the compiler hides
    /// that of a `@preconcurrency` declaration, and the main actor of default isolation. Call the method in a closure, in
    /// which the compiler knows its isolation:
    ///
    /// ```swift
    /// center.observe(.modelDidChange, owner: self, on: .mainActor) {
    ///     sidebar, note in sidebar.reload(note)
    /// }
    /// ```
    ///
    /// Complexity: O(1) amortised. Any thread.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained (M5). Leave it out for any sender.
    ///   - method: The method, as `Type.method`.
    ///   - object: The object whose method is called.
    ///   - owner: The object among whose observers this one is listed (O7), if that is not `object`.
    ///   - target: Where the method runs: on the posting thread, inside the post, if left out.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this owner on this center has a given key; this one replaces it (M7).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    /// - Returns: The observer, which need not be kept. It is inactive if one of the objects is being
    ///   deinitialised.
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Result, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> (Notification) -> Result, of object: Object,
        owner: Owner = Omitted.argument, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver {
        connect(
            ObservationRequest(name, from: sender, on: target, once: once, key: key, at: fileID, line),
            to: Calling.method(method), of: object, owner: owner)
    }

    /// Observes by calling a method that takes nothing.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained (M5). Leave it out for any sender.
    ///   - method: The method, as `Type.method`.
    ///   - object: The object whose method is called.
    ///   - owner: The object among whose observers this one is listed, if that is not `object`.
    ///   - target: Where the method runs: on the posting thread, inside the post, if left out.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this owner on this center has a given key; this one replaces it (M7).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Result, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> () -> Result, of object: Object,
        owner: Owner = Omitted.argument, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver {
        connect(
            ObservationRequest(name, from: sender, on: target, once: once, key: key, at: fileID, line),
            to: Calling.method(method), of: object, owner: owner)
    }

    /// Observes by calling a method of the main actor, on the main actor (P1).
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained (M5). Leave it out for any sender.
    ///   - method: The method, as `Type.method`.
    ///   - object: The object whose method is called.
    ///   - owner: The object among whose observers this one is listed, if that is not `object`.
    ///   - target: The main actor; leave it out.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this owner on this center has a given key; this one replaces it (M7).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Result, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> @MainActor (Notification) -> Result, of object: Object,
        owner: Owner = Omitted.argument, on target: MainActorTarget = .mainActor, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver {
        connect(
            ObservationRequest(name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line),
            to: Calling.mainActorMethod(method), of: object, owner: owner)
    }

    /// Observes by calling a method of the main actor that takes nothing, on the main actor (P1).
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained (M5). Leave it out for any sender.
    ///   - method: The method, as `Type.method`.
    ///   - object: The object whose method is called.
    ///   - owner: The object among whose observers this one is listed, if that is not `object`.
    ///   - target: The main actor; leave it out.
    ///   - once: Whether the observer ends after it has run once (R7).
    ///   - key: At most one live observer of this owner on this center has a given key; this one replaces it (M7).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Result, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> @MainActor () -> Result, of object: Object,
        owner: Owner = Omitted.argument, on target: MainActorTarget = .mainActor, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver {
        connect(
            ObservationRequest(name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line),
            to: Calling.mainActorMethod(method), of: object, owner: owner)
    }

    /// Registers the call of an object's method.
    private func connect<Object: AnyObject, Owner: AnyObject>(
        _ request: ObservationRequest, to call: @escaping Calling<Object>.Body, of object: Object, owner: Owner
    ) -> NotificationObserver {
        if Omitted.stands(for: owner) { return observe(request, for: object, call) }
        ObjectArgument.receiver.check(object, call: request.call)
        let observer = NotificationObserver()
        if isBeingDeinitialised(object) { return observer }
        let receiver = OwnerReference(object)
        request.register(observer, with: self, owner: owner) { [weak observer] (_: Owner, notification) in
            guard let object = receiver.take() else { return observer?.cancel() ?? () }
            call(object, notification)
        }
        return observer
    }
}

/// A method, given as `Type.method`, as a handler that takes the method's object.
private enum Calling<Object: AnyObject> {
    typealias Body = @Sendable (Object, Notification) -> Void

    static func method<Result>(_ method: @escaping @Sendable (Object) -> (Notification) -> Result) -> Body {
        { object, notification in _ = method(object)(notification) }
    }

    static func method<Result>(_ method: @escaping @Sendable (Object) -> () -> Result) -> Body {
        { object, _ in _ = method(object)() }
    }

    /// A method of the main actor; the handler's target is the main queue.
    static func mainActorMethod<Result>(_ method: @escaping @Sendable (Object) -> @MainActor (Notification) -> Result)
        -> Body
    {
        { object, notification in
            // SAFETY: the object stays on this thread, which has the main actor for the call.
            nonisolated(unsafe) let object = object
            onMainActor(notification) { _ = unsafe method(object)($0) }
        }
    }

    /// A method of the main actor without the notification; the handler's target is the main queue.
    static func mainActorMethod<Result>(_ method: @escaping @Sendable (Object) -> @MainActor () -> Result) -> Body {
        { object, notification in
            // SAFETY: as above.
            nonisolated(unsafe) let object = object
            onMainActor(notification) { _ in _ = unsafe method(object)() }
        }
    }
}

// Calls that do not compile.
//
// Swift converts a method of a global actor, given as `Type.method`, to a function type without that actor, and reports
// nothing. In Swift 5 mode the method's type need not name the actor at all. Such a method fits the two generic methods
// below without a conversion, so the compiler prefers them, and finds them ambiguous. Its error has the label of their last
// parameter, which is the remedy.
//
// They stand in the file of the methods that they protect, and below them. The compiler tries overloads in the order of
// their declarations, which between files is that of the build. Where it came to these first, and the name was
// `.init("…")`, it took the conversion.

extension NotifyingCenter {
    @_documentation(visibility: internal)
    @discardableResult
    public func connect<Object: AnyObject, Method, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> Method, of object: Object,
        owner: Owner = Omitted.argument, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        callTheMethodInAClosureOfObserve _: Never? = nil
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    public func connect<Object: AnyObject, Method, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> Method, of object: Object,
        owner: Owner = Omitted.argument, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        callTheMethodInAClosureOfObserve _: () = ()
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    @available(
        *, unavailable,
        message: "call an actor's method in a closure: 'observe(name, owner: cache) { cache, note in cache.clear() }'"
    )
    public func connect<Object: Actor, Method, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (isolated Object) -> Method, of object: Object,
        owner: Owner = Omitted.argument, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message: "leave out 'from:' to observe any sender, or pass a class instance that is not optional"
    )
    @discardableResult
    public func connect<Object: AnyObject, Method, Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Any?, to method: @escaping @Sendable (Object) -> Method,
        of object: Object, owner: Owner = Omitted.argument, on target: DeliveryTarget = .postingThread,
        once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @available(
        *, unavailable, message: "name the method by its type, and its object apart: 'to: Sidebar.reload, of: sidebar'"
    )
    @discardableResult
    public func connect<Object: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, to method: (Notification) -> Void,
        of object: Object, owner: Any? = nil, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver { NotificationObserver() }
}
