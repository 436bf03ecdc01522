import Foundation

/// Reports its end.
final class Ending: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    /// Opens a gate when it ends.
    convenience init(opening gate: Gate) { self.init { gate.open() } }

    deinit { body() }

    /// Uses it, so that a closure captures it, and the optimiser leaves it captured.
    func touch() { withExtendedLifetime(self) {} }
}

/// An owner, a sender or a captured value that logs its end.
final class LoggedObject: Sendable {
    let name: String
    private let log: Log<String>
    private let atEnd: @Sendable (LoggedObject) -> Void

    /// Makes an object that logs the first line of its `deinit`, and then does `atEnd` in it.
    init(
        _ name: String, _ log: Log<String>,
        atEnd: @escaping @Sendable (LoggedObject) -> Void = { _ in }
    ) {
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

/// A receiver of notifications, which logs them and its end.
final class Screen: Sendable {
    let log: Log<String>

    init(_ log: Log<String>) { self.log = log }

    func changed(_ note: Notification) { log.add("changed \(note.number)") }
    func closed() { log.add("closed") }

    deinit { log.add("screen deinit") }
}
