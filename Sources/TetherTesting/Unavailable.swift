public import Foundation
public import Tether

// Calls that do not compile, with a sentence that names the right call.

@_documentation(visibility: internal)
@available(
    *, unavailable, message: "the limits are one value: 'limits: .init(deliveryWait: .seconds(30))'"
)
public func findLeaks(
    timeout limit: Any, closure body: () async throws -> Void
) -> [LeakTracker.Leak] { [] }

@_documentation(visibility: internal)
@available(
    *, unavailable, message: "track the object: 'findLeaks { let sidebar = track(Sidebar()) … }'"
)
public func findLeaks(of object: AnyObject?) -> [LeakTracker.Leak] { [] }

@_documentation(visibility: internal)
@available(
    *, unavailable, message: "track the object: 'findLeaks { let sidebar = track(Sidebar()) … }'"
)
public func findLeaks(_ object: AnyObject?) -> [LeakTracker.Leak] { [] }

@_documentation(visibility: internal)
@available(
    *, unavailable, message: "track the object: 'findLeaks { let sidebar = track(Sidebar()) … }'"
)
public func findLeaks(
    of object: AnyObject?, closure body: () async throws -> Void
) -> [LeakTracker.Leak] { [] }

@_documentation(visibility: internal)
extension NotificationRecorder {
    @available(
        *, unavailable, message: "name the center, too: write 'NotificationRecorder(center, name)'"
    )
    public convenience init(_ name: Notification.Name) { fatalError("unavailable") }

    @available(
        *, unavailable,
        message: "give a name, too: write 'NotificationRecorder(center, name)', or 'nil' for any"
    )
    public convenience init(_ center: some NotifyingCenter) { fatalError("unavailable") }
}
