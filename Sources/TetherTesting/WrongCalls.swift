// Calls that people try, and that must not compile, with a sentence that names the right call.

@_documentation(visibility: internal)
@available(
    *, unavailable, message: "track the object: 'findLeaks { let sidebar = track(Sidebar()) … }'"
)
public func findLeaks(_ object: AnyObject?) -> [LeakTracker.Leak] { [] }

@_documentation(visibility: internal)
@available(
    *, unavailable, message: "the limits are one value: 'limits: .init(deliveryWait: .seconds(30))'"
)
public func findLeaks(
    timeout limit: Any, closure body: () async throws -> Void
) -> [LeakTracker.Leak] { [] }
