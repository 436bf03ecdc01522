/// Does something when it goes.
final class AtDeinit: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    deinit { body() }

    /// Has a closure capture it.
    func touch() {}
}
