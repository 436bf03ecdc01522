public import Tether

// Names of earlier versions, each with the name that replaces it. They stay until 1.0.

@_documentation(visibility: internal)
@available(
    *, unavailable, message: "the limits are one value: 'limits: .init(deliveryWait: .seconds(30))'"
)
public func findLeaks(
    within limit: Duration, release: Duration = .zero, explanation: Duration = .zero,
    closure body: () async throws -> Void
) -> [LeakTracker.Leak] { [] }

@_documentation(visibility: internal)
extension LeakTracker {
    @available(*, unavailable, renamed: "track(_:_:fileID:line:)")
    @discardableResult
    public func track<Object: AnyObject>(
        _ object: Object, _ label: String? = nil, file: StaticString, line: UInt = #line
    ) -> Object { object }

    @available(*, unavailable, renamed: "keep(_:fileID:line:)")
    @discardableResult
    public func keep<Object: AnyObject>(
        _ object: Object, file: StaticString, line: UInt = #line
    ) -> Object { object }

    @available(*, unavailable, renamed: "probe(_:fileID:line:)")
    public func probe(
        _ label: String = "", file: StaticString, line: UInt = #line
    ) -> Probe { fatalError("unavailable") }
}

@_documentation(visibility: internal)
extension LeakTracker.Leak {
    @available(*, unavailable, renamed: "dot()")
    public func graph() -> String { "" }
}

@_documentation(visibility: internal)
extension Audit {
    @available(*, unavailable, renamed: "dot()")
    public func graph() -> String { "" }
}
