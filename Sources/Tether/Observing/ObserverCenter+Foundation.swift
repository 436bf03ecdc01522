public import Foundation

// The interface of Foundation's NotificationCenter.

extension ObserverCenter {
    /// Adds a block for a name and a sender, as Foundation's center does.
    ///
    /// Two things differ from Foundation's. The observer ends when the returned token goes, so keep it. And `queue`
    /// never makes the posting thread wait: the block runs there later (D2).
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - object: The sender to observe; `nil` for any. A class instance is matched by identity and not retained; a
    ///     `Hashable` value by equality within its type, where `==` and `hash(into:)` must be pure. Any other value stops
    ///     the program with a sentence, because no post could match it (M4).
    ///   - queue: Where the block runs; `nil` for the posting thread, inside the post.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - block: What to run.
    /// - Returns: The token, which can be stored as `NSObjectProtocol`.
    public func addObserver(
        forName name: Notification.Name?, object: Any?, queue: OperationQueue?,
        fileID: StaticString = #fileID, line: UInt = #line,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name: name,
                sender: SenderFilter(any: object, call: "ObserverCenter.addObserver(forName:object:queue:using:)"),
                target: queue.map { DeliveryTarget.operationQueue($0) } ?? .postingThread,
                site: RegistrationSite(file: fileID, line: line)),
            block)
    }

    /// Adds an object and one of its methods: target/action without selectors.
    ///
    /// ```swift
    /// center.addObserver(
    ///     self, action: Sidebar.modelDidChange,
    ///     name: .modelDidChange, object: nil)
    /// ```
    ///
    /// As `connect`, which is not there in Swift 5 mode either, with the sender as Foundation passes it. The observer ends
    /// with the object.
    /// - Parameters:
    ///   - observer: The object whose method is called, which is not retained. The observer ends with it.
    ///   - action: The method, as `Type.method`.
    ///   - name: The name to observe; `nil` for any.
    ///   - object: The sender to observe; `nil` for any. A class instance is matched by identity, a `Hashable` value by
    ///     equality; any other value stops the program with a sentence (M4).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func addObserver<Owner: AnyObject>(
        _ observer: Owner, action: @escaping @Sendable (Owner) -> (Notification) -> Void, name: Notification.Name?,
        object: Any?, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        addObserver(observer, Calling.method(action), isOnMainActor: false, name, object, fileID, line)
    }

    /// Adds an object and one of its methods that takes nothing.
    /// - Parameters:
    ///   - observer: The object whose method is called, which is not retained. The observer ends with it.
    ///   - action: The method, as `Type.method`.
    ///   - name: The name to observe; `nil` for any.
    ///   - object: The sender to observe; `nil` for any. A class instance is matched by identity, a `Hashable` value by
    ///     equality; any other value stops the program with a sentence (M4).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func addObserver<Owner: AnyObject>(
        _ observer: Owner, action: @escaping @Sendable (Owner) -> () -> Void, name: Notification.Name?,
        object: Any?, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        addObserver(observer, Calling.method(action), isOnMainActor: false, name, object, fileID, line)
    }

    /// Adds an object and one of its methods of the main actor, which is called there (P1).
    /// - Parameters:
    ///   - observer: The object whose method is called, which is not retained. The observer ends with it.
    ///   - action: The method, as `Type.method`.
    ///   - name: The name to observe; `nil` for any.
    ///   - object: The sender to observe; `nil` for any. A class instance is matched by identity, a `Hashable` value by
    ///     equality; any other value stops the program with a sentence (M4).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func addObserver<Owner: AnyObject>(
        _ observer: Owner, action: @escaping @Sendable (Owner) -> @MainActor (Notification) -> Void,
        name: Notification.Name?,
        object: Any?, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        addObserver(observer, Calling.mainActorMethod(action), isOnMainActor: true, name, object, fileID, line)
    }

    /// Adds an object and one of its methods of the main actor that takes nothing (P1).
    /// - Parameters:
    ///   - observer: The object whose method is called, which is not retained. The observer ends with it.
    ///   - action: The method, as `Type.method`.
    ///   - name: The name to observe; `nil` for any.
    ///   - object: The sender to observe; `nil` for any. A class instance is matched by identity, a `Hashable` value by
    ///     equality; any other value stops the program with a sentence (M4).
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func addObserver<Owner: AnyObject>(
        _ observer: Owner, action: @escaping @Sendable (Owner) -> @MainActor () -> Void, name: Notification.Name?,
        object: Any?, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        addObserver(observer, Calling.mainActorMethod(action), isOnMainActor: true, name, object, fileID, line)
    }

    private func addObserver<Owner: AnyObject>(
        _ observer: Owner, _ call: @escaping Calling<Owner>.Body, isOnMainActor: Bool, _ name: Notification.Name?,
        _ object: Any?, _ file: StaticString, _ line: UInt
    ) {
        let function: StaticString = "ObserverCenter.addObserver(_:action:name:object:)"
        _ = observe(
            ObservationRequest(
                name: name, sender: SenderFilter(any: object, call: function),
                target: isOnMainActor ? .main : .postingThread, isIsolated: isOnMainActor,
                site: RegistrationSite(file: file, line: line), call: function),
            for: observer, call)
    }

    /// Removes an observer: a token of this center, and all observers attached to an object, which may be a token itself.
    ///
    /// A token of another center, or an object with no observers here, changes nothing (M8).
    /// - Parameter observer: A token, or an object that has observers.
    public func removeObserver(_ observer: Any) {
        removeObserver(observer, name: nil, object: nil)
    }

    /// Removes an observer as far as it was registered for a name and a sender; `nil` for any.
    ///
    /// Complexity: O(observers of the object).
    /// - Parameters:
    ///   - observer: A token, or an object that has observers.
    ///   - name: The name that was given for it; `nil` for whatever name.
    ///   - object: The sender that was given for it; `nil` for whatever sender.
    public func removeObserver(_ observer: Any, name: Notification.Name?, object: Any?) {
        guard case .object(let instance) = Unwrapped(observer) else { return }
        let sender = object.map(Unwrapped.init) ?? .nothing
        let key = SenderKey(sender)
        // A value that no observer can have been registered for.
        if key == nil, case .value = sender { return }
        if let token = instance as? NotificationObserver { core.end(token, named: name, from: key) }
        core.endAll(of: OwnerTable.shared.observers(of: instance), named: name, from: key)
    }
}

// Calls that do not compile, and stand here for the reasons that Connectable+Connect.swift gives.

// Not covered: no program that calls one of these compiles.

extension ObserverCenter {
    @_documentation(visibility: internal)
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func addObserver<Object: AnyObject, Method>(
        _ observer: Object, action: @escaping @Sendable (Object) -> Method, name: Notification.Name?, object: Any?,
        fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrTakesOtherParametersSoCallItInAClosure _:
            Never? = nil
    ) {}

    @_documentation(visibility: internal)
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func addObserver<Object: AnyObject, Method>(
        _ observer: Object, action: @escaping @Sendable (Object) -> Method, name: Notification.Name?, object: Any?,
        fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrTakesOtherParametersSoCallItInAClosure _: (
        ) = ()
    ) {}

    @_documentation(visibility: internal)
    @available(swift, obsoleted: 6)
    public func addObserver<Object: AnyObject, Method>(
        _ observer: Object, action: @escaping @Sendable (Object) -> Method, name: Notification.Name?, object: Any?,
        fileID: StaticString = #fileID, line: UInt = #line, inSwift5ModeCallTheMethodInAClosureOfObserve _: Never? = nil
    ) {}

    @_documentation(visibility: internal)
    @available(swift, obsoleted: 6)
    public func addObserver<Object: AnyObject, Method>(
        _ observer: Object, action: @escaping @Sendable (Object) -> Method, name: Notification.Name?, object: Any?,
        fileID: StaticString = #fileID, line: UInt = #line, inSwift5ModeCallTheMethodInAClosureOfObserve _: () = ()
    ) {}
}
