public import Foundation

// Calls that do not compile.
//
// Swift converts a method of a global actor, given as `Type.method`, to a function type without that actor, and says
// nothing. Such a method fits the two generic methods below without a conversion, so that the compiler prefers them, and
// finds them ambiguous: it reports an error, which has the label of the last parameter. In Swift 5 mode, in which the type
// may hide the actor, none of the methods called `connect` is available.

// Not covered: no program that calls one of these compiles.

extension NotifyingCenter {
    @_documentation(visibility: internal)
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Method, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any,
        to method: @escaping @Sendable (Object) -> Method, of object: Object,
        owner: Owner = AnySender.any, on target: DeliveryTarget = .poster, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrTakesOtherParametersSoCallItInAClosure _:
            Never? = nil
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Method, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any,
        to method: @escaping @Sendable (Object) -> Method, of object: Object,
        owner: Owner = AnySender.any, on target: DeliveryTarget = .poster, once: Bool = false,
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
        _ name: Notification.Name?, from sender: Sender = AnySender.any,
        to method: @escaping @Sendable (isolated Object) -> Method, of object: Object,
        owner: Owner = AnySender.any, on target: DeliveryTarget = .poster, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver { NotificationObserver() }
}

// Not covered: no program that calls one of these compiles.

extension NotificationObserver {
    @_documentation(visibility: internal)
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Method, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any,
        to method: @escaping @Sendable (Object) -> Method, of object: Object, on target: DeliveryTarget = .poster,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrTakesOtherParametersSoCallItInAClosure _:
            Never? = nil
    ) {}

    @_documentation(visibility: internal)
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Method, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any,
        to method: @escaping @Sendable (Object) -> Method, of object: Object, on target: DeliveryTarget = .poster,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrTakesOtherParametersSoCallItInAClosure _: (
        ) = ()
    ) {}
}

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
}
