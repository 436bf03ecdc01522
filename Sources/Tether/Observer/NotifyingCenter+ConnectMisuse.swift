public import Foundation

// Calls that do not compile.
//
// Swift converts a method of a global actor, given as `Type.method`, to a function type without that actor, and says
// nothing. Such a method fits the two generic methods below without a conversion, so that the compiler prefers them, and
// finds them ambiguous: it reports an error, in every language mode, which has the label of the last parameter.

// Not covered: no program that calls one of these compiles.

extension NotifyingCenter {
    @_documentation(visibility: internal)
    @discardableResult
    public func connect<Object: AnyObject, Method, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any,
        to method: @escaping @Sendable (Object) -> Method, of object: Object,
        owner: Owner = AnySender.any, on target: DeliveryTarget = .poster, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrSwift5ModeHidesItsActorOrItTakesOtherParametersSoCallItInAClosure _:
            Never? = nil
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    public func connect<Object: AnyObject, Method, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any,
        to method: @escaping @Sendable (Object) -> Method, of object: Object,
        owner: Owner = AnySender.any, on target: DeliveryTarget = .poster, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrSwift5ModeHidesItsActorOrItTakesOtherParametersSoCallItInAClosure _: (
        ) = ()
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message: "call an actor's method in a closure: 'observe(name, owner: cache) { cache, note in cache.clear() }'"
    )
    @discardableResult
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
    public func connect<Object: AnyObject, Method, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any,
        to method: @escaping @Sendable (Object) -> Method, of object: Object, on target: DeliveryTarget = .poster,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrSwift5ModeHidesItsActorOrItTakesOtherParametersSoCallItInAClosure _:
            Never? = nil
    ) {}

    @_documentation(visibility: internal)
    public func connect<Object: AnyObject, Method, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any,
        to method: @escaping @Sendable (Object) -> Method, of object: Object, on target: DeliveryTarget = .poster,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrSwift5ModeHidesItsActorOrItTakesOtherParametersSoCallItInAClosure _: (
        ) = ()
    ) {}
}

// Not covered: no program that calls one of these compiles.

extension ObserverCenter {
    @_documentation(visibility: internal)
    public func addObserver<Object: AnyObject, Method>(
        _ observer: Object, action: @escaping @Sendable (Object) -> Method, name: Notification.Name?, object: Any?,
        fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrSwift5ModeHidesItsActorOrItTakesOtherParametersSoCallItInAClosure _:
            Never? = nil
    ) {}

    @_documentation(visibility: internal)
    public func addObserver<Object: AnyObject, Method>(
        _ observer: Object, action: @escaping @Sendable (Object) -> Method, name: Notification.Name?, object: Any?,
        fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrSwift5ModeHidesItsActorOrItTakesOtherParametersSoCallItInAClosure _: (
        ) = ()
    ) {}
}

// In Swift 5 mode, the type of a method may hide its actor. It then fits a parameter for a method of the main actor, but
// may be of another.

// Not covered: no program that calls one of these compiles.

extension NotifyingCenter {
    @_documentation(visibility: internal)
    @available(swift, obsoleted: 6)
    @discardableResult
    public func connect<Object: AnyObject, Method, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any,
        to method: @escaping @Sendable (Object) -> Method, of object: Object,
        owner: Owner = AnySender.any, on target: MainActorTarget, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrSwift5ModeHidesItsActorOrItTakesOtherParametersSoCallItInAClosure _:
            Never? = nil
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @available(swift, obsoleted: 6)
    @discardableResult
    public func connect<Object: AnyObject, Method, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any,
        to method: @escaping @Sendable (Object) -> Method, of object: Object,
        owner: Owner = AnySender.any, on target: MainActorTarget, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrSwift5ModeHidesItsActorOrItTakesOtherParametersSoCallItInAClosure _: (
        ) = ()
    ) -> NotificationObserver { NotificationObserver() }
}

// Not covered: no program that calls one of these compiles.

extension NotificationObserver {
    @_documentation(visibility: internal)
    @available(swift, obsoleted: 6)
    public func connect<Object: AnyObject, Method, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any,
        to method: @escaping @Sendable (Object) -> Method, of object: Object, on target: MainActorTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrSwift5ModeHidesItsActorOrItTakesOtherParametersSoCallItInAClosure _:
            Never? = nil
    ) {}

    @_documentation(visibility: internal)
    @available(swift, obsoleted: 6)
    public func connect<Object: AnyObject, Method, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = AnySender.any,
        to method: @escaping @Sendable (Object) -> Method, of object: Object, on target: MainActorTarget,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrSwift5ModeHidesItsActorOrItTakesOtherParametersSoCallItInAClosure _: (
        ) = ()
    ) {}
}
