/// An owner, a sender or a captured value that logs its end.
final class LoggedObject: Sendable {
    let name: String
    private let log: Log<String>
    private let atEnd: @Sendable (LoggedObject) -> Void

    /// Makes an object that logs the first line of its `deinit`, and then does `atEnd` in it.
    init(_ name: String, _ log: Log<String>, atEnd: @escaping @Sendable (LoggedObject) -> Void = { _ in }) {
        self.name = name
        self.log = log
        self.atEnd = atEnd
    }

    /// Uses the object, so that a closure captures it.
    func touch() { withExtendedLifetime(self) {} }

    deinit {
        log.add("\(name) deinit")
        atEnd(self)
    }
}
