import Tether

/// What happened, in order, from any thread.
final class Log<Entry: Sendable>: Sendable {
    private let content = Guarded<[Entry]>([])

    var entries: [Entry] { content.withLock(\.self) }

    func add(_ entry: Entry) { content.withLock { $0.append(entry) } }
}
