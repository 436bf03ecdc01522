public import Foundation

// Calls that do not compile, and say what to write instead.

// Not covered: no program that calls one of these compiles.
extension NotifyingCenter {
    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message: "leave out 'from:' to observe any sender, or pass a class instance that is not optional"
    )
    public func observe(
        _ name: Notification.Name?, from sender: Any?, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    @available(
        *, unavailable,
        message: "leave out 'from:' to observe any sender, or pass a class instance that is not optional"
    )
    public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Any?, owner: Owner, on target: DeliveryTarget = .postingThread,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    @available(
        *, unavailable,
        message:
            "an owner is a class instance or an actor, and not optional; without one, leave out 'owner:' and keep the token"
    )
    public func observe<Owner, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        on target: DeliveryTarget = .postingThread, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, _ handler: @escaping @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    @available(*, unavailable, message: "'owner:' goes before 'on:'")
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, on target: DeliveryTarget, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    @available(*, unavailable, message: "'owner:' goes before 'on:'")
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, on target: MainActorTarget, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @available(*, unavailable, message: "'on:' goes before 'once:'")
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, once: Bool, on target: DeliveryTarget,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    @available(*, unavailable, message: "'on:' goes before 'once:'")
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner, once: Bool,
        on target: DeliveryTarget, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @available(*, unavailable, message: "the sender is 'from:'; leave it out for any")
    public func observe(
        _ name: Notification.Name?, object sender: Any?, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    @available(*, unavailable, message: "the sender is 'from:'; leave it out for any")
    public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, object sender: Any?, owner: Owner, on target: DeliveryTarget = .postingThread,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

// Not covered: as above.
extension NotificationObserver {
    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message: "leave out 'from:' to observe any sender, or pass a class instance that is not optional"
    )
    public func observe(
        _ name: Notification.Name?, from sender: Any?, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Notification) -> Void
    ) {}
}

// Not covered: as above.
extension ObserverCenter {
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'post(name: name, object: sender)', with 'nil' for no sender")
    public func post(_ name: Notification.Name, from sender: Any? = nil, userInfo: [AnyHashable: Any]? = nil) {}

    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message: "there are no selectors here: 'addObserver(self, action: Sidebar.changed, name: name, object: nil)'"
    )
    public func addObserver<Selector>(
        _ observer: Any, selector: Selector, name: Notification.Name?, object: Any?
    ) {}
}

// Not covered: as above.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    @_documentation(visibility: internal)
    @available(
        *, unavailable, message: "a type of messages is given as 'for: .type(ModelDidChange.self)'"
    )
    public func observe<Message>(
        of subject: Any? = nil, for type: Message.Type, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, _ handler: @escaping (Message) -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    @available(
        *, unavailable, message: "a type of messages is given as 'for: .type(ModelDidChange.self)'"
    )
    public func observe<Message, Owner: AnyObject>(
        of subject: Any? = nil, for type: Message.Type, owner: Owner, on target: DeliveryTarget = .postingThread,
        once: Bool = false, key: (any Hashable)? = nil, _ handler: @escaping (Owner, Message) -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @available(
        *, unavailable, message: "'of:' takes an object that the messages are about, not optional; leave it out for any"
    )
    public func observe<Identifier: NotificationCenter.MessageIdentifier>(
        of subject: Any?, for identifier: Identifier, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, _ handler: @escaping (Identifier.MessageType) -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    @available(
        *, unavailable, message: "'of:' takes an object that the messages are about, not optional; leave it out for any"
    )
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Owner: AnyObject>(
        of subject: Any?, for identifier: Identifier, owner: Owner, on target: DeliveryTarget = .postingThread,
        once: Bool = false, key: (any Hashable)? = nil, _ handler: @escaping (Owner, Identifier.MessageType) -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

// Not covered: as above.
extension DeliveryTarget {
    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message: "a token's target is '.main'; a handler of the main actor is registered with 'on: .mainActor'"
    )
    public static var mainActor: DeliveryTarget { .main }
}
