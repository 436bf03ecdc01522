import Foundation

/// A receiver of notifications, which logs them and its end.
final class Screen: Sendable {
    let log: Log<String>

    init(_ log: Log<String>) { self.log = log }

    func changed(_ note: Notification) { log.add("changed \(note.number)") }
    func closed() { log.add("closed") }

    deinit { log.add("screen deinit") }
}
