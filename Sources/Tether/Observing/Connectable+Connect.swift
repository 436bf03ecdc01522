public import Foundation

extension NotificationObserver: Connectable {}

/// A method that takes the notification, as it is written in a table of methods to connect.
///
/// ```swift
/// typealias Method = NotificationMethod<Catalog>
/// let methods: [Notification.Name: Method] = [
///     .modelDidChange: Catalog.update, .modelDidOpen: Catalog.fill,
/// ]
/// methods.forEach { center.connect($0, to: $1, of: catalog) }
/// ```
///
/// For methods that are isolated to no actor. The compiler converts one of the main actor to this type without a word, and
/// it is then called where the target is: write those in a table of `MainActorNotificationMethod`.
public typealias NotificationMethod<Object: AnyObject> = @Sendable (Object) -> (Notification) -> Void

/// A method of the main actor that takes the notification, as it is written in a table of methods to connect.
public typealias MainActorNotificationMethod<Object: AnyObject> =
    @Sendable (Object) -> @MainActor (Notification) -> Void

extension Connectable {
    /// Observes by calling a method of an object, as long as that object lives: target/action without selectors.
    ///
    /// ```swift
    /// center.connect(.modelDidClose, to: Sidebar.clear, of: self)
    /// center.connect(
    ///     .modelDidChange, from: model, to: Sidebar.reload,
    ///     of: sidebar, owner: document)
    /// ```
    ///
    /// The method takes the notification, or nothing. Neither `object` nor `owner` is retained, except while the method
    /// runs. The observer ends with the first of the two to go, before that one's `deinit` (O3).
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
    /// Called on an observer that was made with `init(center:)`, the method takes the place of the handler that it had; on a
    /// center, a new observer is made, which its owner's side holds, or that of `object`. A property that is given no owner is
    /// listed with none, and its key is the center's.
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
    /// - Returns: The observer, which of a center need not be kept. It is inactive if one of the objects is being
    ///   deinitialised.
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> (Notification) -> Void, of object: Object,
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
    public func connect<Object: AnyObject, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> () -> Void, of object: Object,
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
        let property = self as? NotificationObserver
        guard let center = property?.propertyCenter ?? self as? any NotifyingCenter else {
            // Not covered: ends the process; MisuseTests run it apart.
            fatalError(
                "connect(_:to:of:): \(type(of: self)) is neither a center nor an observer; call it on one, or let the type "
                    + "conform to NotifyingCenter.")
        }
        let isOwned = !Omitted.stands(for: owner)
        if property == nil, !isOwned { return center.observe(request, for: object, call) }
        let observer = property ?? NotificationObserver()
        guard let held = HeldForCalls(object, call: request.call) else {
            // An observer that was configured before is idle then, too.
            observer.cancel()
            return observer
        }
        let call = held.calling(call)
        if isOwned {
            request.register(observer, with: center, owner: owner, receiver: object) { (_: Owner, notification) in
                call(notification)
            }
        } else {
            request.register(observer, with: center, receiver: object, handler: call)
        }
        return observer
    }
}

// Calls that do not compile.
//
// Swift converts a method of a global actor, given as `Type.method`, to a function type without that actor, and says
// nothing. Such a method fits the two generic methods below without a conversion, so that the compiler prefers them, and
// finds them ambiguous: it reports an error, which has the label of the last parameter. In Swift 5 mode, in which the type
// may hide the actor, none of the methods called `connect` is available, and these two give way to two that fit any method.
//
// They stand in the file of the methods that they protect, and below them, because the compiler tries overloads in the
// order of their declarations, which between files is that of the build: where it came to these first, and the name was
// `.init("…")`, it took the conversion.

// Not covered: no program that calls one of these compiles.

extension Connectable {
    @_documentation(visibility: internal)
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Method, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> Method, of object: Object,
        owner: Owner = Omitted.argument, on target: DeliveryTarget = .postingThread, once: Bool = false,
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
        owner: Owner = Omitted.argument, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        theMethodIsOfAnotherActorThanItsTargetOrTakesOtherParametersSoCallItInAClosure _: (
        ) = ()
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    @available(swift, obsoleted: 6)
    public func connect<Object: AnyObject, Method, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> Method, of object: Object,
        owner: Owner = Omitted.argument, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        inSwift5ModeCallTheMethodInAClosureOfObserve _: Never? = nil
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    @available(swift, obsoleted: 6)
    public func connect<Object: AnyObject, Method, Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> Method, of object: Object,
        owner: Owner = Omitted.argument, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        inSwift5ModeCallTheMethodInAClosureOfObserve _: () = ()
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
        owner: Owner = Omitted.argument, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message: "leave out 'from:' to observe any sender, or pass a class instance that is not optional"
    )
    @discardableResult
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
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
    @available(swift, introduced: 6, message: "in Swift 5 mode, call the method in a closure of 'observe'")
    public func connect<Object: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, to method: (Notification) -> Void,
        of object: Object, owner: Any? = nil, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationObserver { NotificationObserver() }
}
