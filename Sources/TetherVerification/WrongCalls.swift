public import Testing

// Calls that people try, and that must not compile, with a sentence that names the right call.

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "track the object: 'verifyNoLeaks { let sidebar = track(Sidebar()) … }'"
)
public func verifyNoLeaks(_ object: AnyObject?) {}

@_documentation(visibility: internal)
@available(
    *, unavailable, message: "the limits are one value: 'limits: .init(deliveryWait: .seconds(30))'"
)
public func verifyNoLeaks<Result>(
    timeout limit: Any, closure body: () async throws -> Result
) -> Result { fatalError("unavailable") }

@_documentation(visibility: internal)
extension Trait where Self == NoLeaksTrait {
    @available(*, unavailable, renamed: "verifiesNoLeaks")
    public static var verifyNoLeaks: Self { fatalError("unavailable") }
}
