public import Foundation

// Observing by the method of an object: target/action without selectors.

extension NotifyingCenter {
    /// Observes by calling a method of an object, as long as the object lives: target/action
    /// without selectors.
    ///
    /// ```swift
    /// center.connect(.modelDidClose, to: Sidebar.clear, of: self)
    /// center.connect(
    ///     .modelDidChange, from: model, to: Sidebar.reload,
    ///     of: sidebar, owner: document)
    /// ```
    ///
    /// The method takes the notification or nothing; a result is discarded. `object` and `owner`
    /// are retained only while the method runs. Without an owner, the observer ends with `object`.
    /// With an owner, the observer ends with the owner, or when a post would next call the method
    /// of a deallocated `object`.
    ///
    /// The compiler chooses the target by the method's isolation, a part of the method's type. A
    /// main-actor method runs on the main actor, on any posting thread. A nonisolated method runs
    /// on `target`.
    ///
    /// A method of another actor does not compile here, and in Swift 5 mode no method does: its
    /// type need not name its actor there. The compiler also hides the actor of a `@preconcurrency`
    /// declaration, and the main actor of default isolation. Call such a method in a closure of
    /// `observe`, where the compiler knows the method's isolation.
    ///
    /// All else is as for ``observe(_:from:owner:on:once:key:backlog:fileID:line:_:)``.
    /// - Returns: The token, inactive if one of the objects is being deinitialized; the caller need
    ///   not keep the token.
    @discardableResult
    @available(
        swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'"
    )
    public func connect<Object: AnyObject, Result>(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        to method: @escaping @Sendable (Object) -> (Notification) -> Result, of object: Object,
        owner: AnyObject = Omitted.argument, on target: DeliveryTarget = .postingThread,
        once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver {
        connect(
            ObservationRequest(
                name, from: sender, on: target, once: once, key: key, backlog: backlog,
                fileID: fileID, line: line),
            of: object, owner: owner
        ) { object, notification in _ = method(object)(notification) }
    }

    /// Observes by calling a method without a parameter.
    @discardableResult
    @available(
        swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'"
    )
    public func connect<Object: AnyObject, Result>(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        to method: @escaping @Sendable (Object) -> () -> Result, of object: Object,
        owner: AnyObject = Omitted.argument, on target: DeliveryTarget = .postingThread,
        once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver {
        connect(
            ObservationRequest(
                name, from: sender, on: target, once: once, key: key, backlog: backlog,
                fileID: fileID, line: line),
            of: object, owner: owner
        ) { object, _ in _ = method(object)() }
    }

    /// Observes by calling a method of the main actor, on the main actor.
    @discardableResult
    @available(
        swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'"
    )
    public func connect<Object: AnyObject, Result>(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        to method: @escaping @Sendable (Object) -> @MainActor (Notification) -> Result,
        of object: Object,
        owner: AnyObject = Omitted.argument, on target: MainActorTarget = .mainActor,
        once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver {
        connect(
            ObservationRequest(
                name, from: sender, on: target.delivery, isIsolated: true, once: once, key: key,
                backlog: backlog, fileID: fileID, line: line
            ),
            of: object, owner: owner
        ) { onMainActor($0, $1) { _ = method($0)($1) } }
    }

    /// Observes by calling a main-actor method without a parameter, on the main actor.
    @discardableResult
    @available(
        swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'"
    )
    public func connect<Object: AnyObject, Result>(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        to method: @escaping @Sendable (Object) -> @MainActor () -> Result, of object: Object,
        owner: AnyObject = Omitted.argument, on target: MainActorTarget = .mainActor,
        once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver {
        connect(
            ObservationRequest(
                name, from: sender, on: target.delivery, isIsolated: true, once: once, key: key,
                backlog: backlog, fileID: fileID, line: line
            ),
            of: object, owner: owner
        ) { onMainActor($0, $1) { object, _ in _ = method(object)() } }
    }

    /// Registers the call of an object's method.
    private func connect<Object: AnyObject, Owner: AnyObject>(
        _ request: ObservationRequest, of object: Object, owner: Owner,
        to call: @escaping @Sendable (Object, Notification) -> Void
    ) -> NotificationObserver {
        if Omitted.stands(for: owner) { return observe(request, for: object, call) }
        ObjectArgument.receiver.check(object, at: request.site)
        let observer = NotificationObserver()
        if isBeingDeinitialised(object) { return observer }
        let receiver = ObjectReference(object)
        return observe(request, for: owner, by: observer) { [weak observer] _, notification in
            guard let object = receiver.retained else {
                observer?.cancel()
                return
            }
            call(object, notification)
        }
    }
}

// Calls that do not compile.
//
// Swift converts a global actor's method, given as `Type.method`, to a function type without the
// actor, and reports nothing. Such a method fits the two generic methods below without a
// conversion, so the compiler prefers both and finds them ambiguous. A method that throws, or takes
// other parameters, fits only these two. The error names the label of the last parameter, which is
// the remedy. Both are deprecated, so completion lists them last.
//
// Keep these methods below the methods that they protect, in the same file. The compiler tries
// overloads in declaration order, and across files in the order of the build. When the compiler
// tried these methods first, and the name was `.init("…")`, the compiler chose the conversion.

@_documentation(visibility: internal)
extension NotifyingCenter {
    @available(*, deprecated, message: "call the method in a closure of 'observe'")
    @discardableResult
    public func connect<Object: AnyObject, Method>(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        to method: @escaping @Sendable (Object) -> Method, of object: Object,
        owner: AnyObject = Omitted.argument, on target: DeliveryTarget = .postingThread,
        once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        callTheMethodInAClosureOfObserveIfItThrowsAwaitsTakesOtherValuesOrHasAnotherActor _:
            Never? = nil
    ) -> NotificationObserver { NotificationObserver() }

    @available(*, deprecated, message: "call the method in a closure of 'observe'")
    @discardableResult
    public func connect<Object: AnyObject, Method>(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        to method: @escaping @Sendable (Object) -> Method, of object: Object,
        owner: AnyObject = Omitted.argument, on target: DeliveryTarget = .postingThread,
        once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line,
        callTheMethodInAClosureOfObserveIfItThrowsAwaitsTakesOtherValuesOrHasAnotherActor _: () = ()
    ) -> NotificationObserver { NotificationObserver() }
}
