public import Foundation

// Names of earlier versions, each with the name that replaces it: the compiler offers to rename
// them. They stay until 1.0.

@_documentation(visibility: internal)
extension NotificationObserver {
    @available(*, unavailable, renamed: "cancel()")
    public func stop() {}

    @available(*, unavailable, renamed: "cancelAndWait()")
    public func stopAndWait() {}
}

@_documentation(visibility: internal)
extension DeliveryTarget {
    @available(*, unavailable, renamed: "postingThread")
    public static var poster: DeliveryTarget { .postingThread }
}

@_documentation(visibility: internal)
@available(*, unavailable, renamed: "NotifyingCenter")
public typealias Connectable = NotifyingCenter

@_documentation(visibility: internal)
@available(
    *, unavailable, message: "write the type: '@Sendable (Object) -> (Notification) -> Void'"
)
public typealias NotificationMethod<Object: AnyObject> =
    @Sendable (Object) -> (Notification) -> Void

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "write the type: '@Sendable (Object) -> @MainActor (Notification) -> Void'"
)
public typealias MainActorNotificationMethod<Object: AnyObject> =
    @Sendable (Object) -> @MainActor (Notification) -> Void

@_documentation(visibility: internal)
extension NotificationObserver {
    @available(
        *, unavailable, message: "a center makes the token: 'token = center.observe(name) { … }'"
    )
    public convenience init(center: any NotifyingCenter) { fatalError("unavailable") }
}

@_documentation(visibility: internal)
extension ObserverCenter {
    @available(
        *, unavailable,
        message: "write 'connect(name, from: sender, to: Sidebar.changed, of: self)'"
    )
    public func addObserver<Object: AnyObject, Method>(
        _ observer: Object, action: @escaping @Sendable (Object) -> Method,
        name: Notification.Name?, object: Any?
    ) {}
}

@_documentation(visibility: internal)
extension RunLoopThread {
    @available(
        *, unavailable,
        message: "write 'RunLoopThread(name:)'; an observer on '.thread(thread)' does the work"
    )
    public convenience init(name: String = "", body: (@Sendable () -> Void)?) {
        fatalError("unavailable")
    }
}

@_documentation(visibility: internal)
extension Trace {
    @available(*, unavailable, renamed: "start(to:limit:)")
    public static func start(writingTo file: URL, limit: Int = 256 << 20) throws {}

    @available(*, unavailable, renamed: "record(to:_:)")
    public static func recording<Result>(
        to file: URL, _ body: () async throws -> Result
    ) -> Result { fatalError("unavailable") }
}
