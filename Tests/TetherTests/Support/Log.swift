import Synchronization

/// What happened, in order, from any thread.
final class Log<Entry: Sendable>: Sendable {
    private let content = Mutex<[Entry]>([])

    var entries: [Entry] { content.withLock(\.self) }

    func add(_ entry: Entry) { content.withLock { $0.append(entry) } }
}
