public import Testing

// Names of earlier versions, each with the name that replaces it. They stay until 1.0.

@_documentation(visibility: internal)
@available(
    *, unavailable, message: "the limits are one value: 'limits: .init(deliveryWait: .seconds(30))'"
)
public func verifyNoLeaks<Result>(
    within limit: Duration, release: Duration = .zero, explanation: Duration = .zero,
    closure body: () async throws -> Result
) -> Result { fatalError("unavailable") }

extension Trait where Self == NoLeaksTrait {
    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message: "the limits are one value: 'limits: .init(deliveryWait: .seconds(30))'"
    )
    public static func verifiesNoLeaks(
        within limit: Duration, release: Duration = .zero, explanation: Duration = .zero
    ) -> Self { fatalError("unavailable") }
}
