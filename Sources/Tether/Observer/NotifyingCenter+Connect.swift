public import Foundation

extension NotifyingCenter {
    /// Observes by calling a method of an object, as long as that object lives: target/action without selectors.
    ///
    /// ```swift
    /// center.connect(.modelDidClose, to: Sidebar.clear, of: self)             // func clear()
    /// center.connect(.modelDidChange, from: model, to: Sidebar.reload, of: sidebar, owner: document)
    /// ```
    ///
    /// The method takes the notification, or nothing. Neither `object` nor `owner` is retained, except while the method
    /// runs. The observer ends with the first of the two to go, before that one's `deinit` (O3).
    ///
    /// The method's isolation is part of its type, so that the compiler chooses where it runs: a method of the main actor
    /// runs on the main actor, whoever posts; a nonisolated one on `target` (P1). A method of another actor is called in
    /// a closure of `observe`; here it does not compile.
    ///
    /// In Swift 5 mode it does not compile, because there a method's type need not name its actor: the compiler hides
    /// that of a `@preconcurrency` declaration, and the main actor of default isolation. Call the method in a closure, in
    /// which the compiler knows its isolation:
    ///
    /// ```swift
    /// center.observe(.modelDidChange, owner: self, on: .mainActor) { sidebar, note in sidebar.reload(note) }
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
    /// - Returns: The token, which need not be kept. It is inactive if one of the objects is being deinitialised.
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> (Notification) -> Void, of object: Object,
        owner: Owner = Omitted.argument, on target: DeliveryTarget = .poster, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver {
        connect(
            ObservationRequest(name, from: sender, on: target, once: once, key: key, at: fileID, line),
            to: Calling.method(method), of: object, owner: owner)
    }

    /// Observes by calling a method that takes nothing.
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> () -> Void, of object: Object,
        owner: Owner = Omitted.argument, on target: DeliveryTarget = .poster, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver {
        connect(
            ObservationRequest(name, from: sender, on: target, once: once, key: key, at: fileID, line),
            to: Calling.method(method), of: object, owner: owner)
    }

    /// Observes by calling a method of the main actor, on the main actor (P1).
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> @MainActor (Notification) -> Void, of object: Object,
        owner: Owner = Omitted.argument, on target: MainActorTarget = .mainActor, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver {
        connect(
            ObservationRequest(name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line),
            to: Calling.mainActorMethod(method), of: object, owner: owner)
    }

    /// Observes by calling a method of the main actor that takes nothing, on the main actor (P1).
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> @MainActor () -> Void, of object: Object,
        owner: Owner = Omitted.argument, on target: MainActorTarget = .mainActor, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver {
        connect(
            ObservationRequest(name, from: sender, on: .main, isIsolated: true, once: once, key: key, at: fileID, line),
            to: Calling.mainActorMethod(method), of: object, owner: owner)
    }

    /// Registers the call of an object's method.
    func connect<Object: AnyObject, Owner: AnyObject>(
        _ request: ObservationRequest, to call: @escaping Calling<Object>.Body, of object: Object, owner: Owner
    ) -> NotificationObserver {
        if Omitted.stands(for: owner) { return observe(request, for: object, call) }
        let observer = NotificationObserver()
        guard let held = HeldForCalls(object) else { return observer }
        let call = held.calling(call)
        request.register(observer, with: self, owner: owner, receiver: object) { (_: Owner, notification) in
            call(notification)
        }
        return observer
    }
}

// Calls that do not compile.
//
// Swift converts a method of a global actor, given as `Type.method`, to a function type without that actor, and says
// nothing. Such a method fits the two generic methods below without a conversion, so that the compiler prefers them, and
// finds them ambiguous: it reports an error, which has the label of the last parameter. In Swift 5 mode, in which the type
// may hide the actor, none of the methods called `connect` is available.
//
// They stand in the file of the methods that they protect, and below them, because the compiler tries overloads in the
// order of their declarations, which between files is that of the build: where it came to these first, and the name was
// `.init("…")`, it took the conversion.

// Not covered: no program that calls one of these compiles.

extension NotifyingCenter {
    @_documentation(visibility: internal)
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Method, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> Method, of object: Object,
        owner: Owner = Omitted.argument, on target: DeliveryTarget = .poster, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrTakesOtherParametersSoCallItInAClosure _:
            Never? = nil
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Method, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> Method, of object: Object,
        owner: Owner = Omitted.argument, on target: DeliveryTarget = .poster, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrTakesOtherParametersSoCallItInAClosure _: (
        ) = ()
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message: "call an actor's method in a closure: 'observe(name, owner: cache) { cache, note in cache.clear() }'"
    )
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: Actor, Method, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (isolated Object) -> Method, of object: Object,
        owner: Owner = Omitted.argument, on target: DeliveryTarget = .poster, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver { NotificationObserver() }
}
