public import Foundation

// Calls that do not compile, and say what to write instead.

// Not covered: no program that calls one of these compiles.
extension NotifyingCenter {
    @_documentation(visibility: internal)
    @available(
        *, unavailable, message: "leave out 'from:' to observe any sender, or pass an object that is not optional"
    )
    public func observe(
        _ name: Notification.Name?, from sender: AnyObject?, on target: DeliveryTarget = .poster, once: Bool = false,
        key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_documentation(visibility: internal)
    @discardableResult
    @available(
        *, unavailable, message: "leave out 'from:' to observe any sender, or pass an object that is not optional"
    )
    public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, from sender: AnyObject?, owner: Owner, on target: DeliveryTarget = .poster,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

// Not covered: as above.
extension ObserverCenter {
    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message: "there are no selectors here: 'addObserver(self, action: Sidebar.changed, name: name, object: nil)'"
    )
    public func addObserver<Selector>(
        _ observer: Any, selector: Selector, name: Notification.Name?, object: Any?
    ) {}
}
