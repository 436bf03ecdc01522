/// Tells when it ends.
final class Ending: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    deinit { body() }

    /// Uses it, so that a closure captures it, and the optimiser leaves it captured.
    func touch() { withExtendedLifetime(self) {} }
}
