import Foundation

/// Calls a closure in its `deinit`.
final class Ending: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    /// Opens a gate in its `deinit`.
    convenience init(opening gate: Gate) { self.init { gate.open() } }

    deinit { body() }

    /// Called in a closure that is to capture the object, also in an optimised build.
    func touch() { withExtendedLifetime(self) {} }
}

/// An owner, a sender or a captured value that logs its `deinit`.
final class LoggedObject: Sendable {
    let name: String
    private let log: Log<String>
    private let atEnd: @Sendable (LoggedObject) -> Void

    /// Makes an object whose `deinit` logs, and then calls `atEnd`.
    init(
        _ name: String, _ log: Log<String>,
        atEnd: @escaping @Sendable (LoggedObject) -> Void = { _ in }
    ) {
        self.name = name
        self.log = log
        self.atEnd = atEnd
    }

    /// Called in a closure that is to capture the object.
    func touch() { withExtendedLifetime(self) {} }

    deinit {
        log.add("\(name) deinit")
        atEnd(self)
    }
}

/// A receiver, which logs its notifications and its `deinit`.
final class Screen: Sendable {
    let log: Log<String>

    init(_ log: Log<String>) { self.log = log }

    func changed(_ note: Notification) { log.add("changed \(note.number)") }
    func closed() { log.add("closed") }

    deinit { log.add("screen deinit") }
}
