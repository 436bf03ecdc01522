internal import Foundation

/// The notifications that wait in a posting queue: a value with O(1) enqueueing and coalescing at any backlog.
///
/// Each entry is in four chains: by line (style and modes), by name, by sender, by both. A dictionary maps a chain's
/// key to the first entry. So the entries that a notification coalesces with are found directly (Q9).
struct PostingBacklog {
    typealias Style = PostingQueue.PostingStyle
    typealias Coalescing = PostingQueue.NotificationCoalescing

    /// A line of notifications that wait in order.
    struct Line: Hashable {
        let style: Style
        let modes: Set<RunLoop.Mode>
    }

    /// The key of a chain.
    private enum Key: Hashable {
        case line(Line)
        case name(Notification.Name)
        case sender(Sender)
        case both(Notification.Name, Sender)
    }

    /// A sender for coalescing. Absent senders are equal to each other. A value that is not `Hashable`, or not equal to
    /// itself, equals no other sender.
    private enum Sender: Hashable {
        case none
        case key(SenderKey)
        case unique(UInt64)
    }

    private struct Entry {
        let notification: Notification
        let sequence: UInt64
        let line: Line
        let sender: Sender
        /// The neighbours in each of the four chains; -1 for none.
        var previous = SIMD4<Int>(repeating: -1)
        var next = SIMD4<Int>(repeating: -1)

        /// The keys of the four chains.
        func key(_ chain: Int) -> Key {
            switch chain {
            case 0: .line(line)
            case 1: .name(notification.name)
            case 2: .sender(sender)
            default: .both(notification.name, sender)
            }
        }
    }

    private var entries: ContiguousArray<Entry?> = []
    private var free: [Int] = []
    /// The ends of each chain.
    private var chains: [Key: (first: Int, last: Int)] = [:]
    /// The lines with waiting notifications.
    private(set) var lines: Set<Line> = []
    private(set) var count = 0
    private(set) var nextSequence: UInt64 = 0

    var isEmpty: Bool { count == 0 }

    func count(of style: Style) -> Int { entries.lazy.compactMap(\.self).count { $0.line.style == style } }

    /// Removed entries, to be released where user code may run.
    ///
    /// SAFETY: only released.
    struct Removed: @unchecked Sendable {
        fileprivate var entries: [Any] = []
        /// Keys of the dictionary. A key may have the last reference to a value of the user's.
        fileprivate var keys: [Any] = []
        var count: Int { entries.count }
    }

    /// SAFETY: the notification is on its way to its one post.
    struct Popped: @unchecked Sendable {
        let notification: Notification
        let removed: Removed
    }

    // MARK: Enqueueing

    /// Adds a notification at the back of a line; true if the line was empty.
    mutating func append(_ notification: Notification, style: Style, modes: Set<RunLoop.Mode>) -> Bool {
        let line = Line(style: style, modes: modes)
        let sender = sender(of: notification)
        let entry = Entry(
            notification: notification, sequence: nextSequence, line: line, sender: sender)
        nextSequence += 1
        count += 1
        let index = free.popLast() ?? entries.count
        if index == entries.count { entries.append(entry) } else { entries[index] = entry }
        for chain in 0..<4 { link(index, into: chain, of: entry.key(chain)) }
        return lines.insert(line).inserted
    }

    private mutating func link(_ index: Int, into chain: Int, of key: Key) {
        guard let last = chains[key]?.last else {
            chains[key] = (index, index)
            return
        }
        entries[last]!.next[chain] = index
        entries[index]!.previous[chain] = last
        chains[key]!.last = index
    }

    private func sender(of notification: Notification) -> Sender {
        let content = notification.object.map(Unwrapped.init) ?? .nothing
        if case .nothing = content { return .none }
        guard let key = SenderKey(content), key == key else { return .unique(nextSequence) }
        return .key(key)
    }

    // MARK: Removing

    /// Removes the notifications that a new one coalesces with; none for an empty mask. Complexity: O(removed).
    mutating func removeAll(matching notification: Notification, on mask: Coalescing) -> Removed {
        var removed = Removed()
        let key: Key
        switch mask {
        case [.onName, .onSender]: key = .both(notification.name, sender(of: notification))
        case .onName: key = .name(notification.name)
        case .onSender: key = .sender(sender(of: notification))
        default: return removed
        }
        while let first = chains[key]?.first { remove(at: first, into: &removed) }
        return removed
    }

    /// Removes exactly one notification: the oldest with the same name, sender and `userInfo`.
    ///
    /// Complexity: O(notifications of the same name and sender).
    mutating func removeOne(_ notification: Notification) -> Removed {
        var removed = Removed()
        let key = Key.both(notification.name, sender(of: notification))
        var index = chains[key]?.first ?? -1
        while index >= 0, let entry = entries[index] {
            if entry.notification.hasSameUserInfo(as: notification) {
                remove(at: index, into: &removed)
                break
            }
            index = entry.next[3]
        }
        return removed
    }

    mutating func removeAll() -> Removed {
        var removed = Removed()
        // `entries` is empty after the last removal.
        for index in entries.indices where !isEmpty && entries[index] != nil { remove(at: index, into: &removed) }
        return removed
    }

    /// Removes the next notification of a style whose line is open and whose sequence is below a limit.
    ///
    /// Complexity: O(lines).
    mutating func popFirst(
        _ style: Style, before limit: UInt64, isOpen: (Set<RunLoop.Mode>) -> Bool
    ) -> Popped? {
        var oldest: (index: Int, entry: Entry)?
        for line in lines where line.style == style && isOpen(line.modes) {
            if let first = chains[.line(line)]?.first, let entry = entries[first],
                entry.sequence < oldest?.entry.sequence ?? limit
            {
                oldest = (first, entry)
            }
        }
        guard let oldest else { return nil }
        var removed = Removed()
        remove(at: oldest.index, into: &removed)
        return Popped(notification: oldest.entry.notification, removed: removed)
    }

    private mutating func remove(at index: Int, into removed: inout Removed) {
        let entry = entries[index].take()!
        for chain in 0..<4 { unlink(entry, from: chain, of: entry.key(chain), into: &removed) }
        removed.entries.append(entry)
        count -= 1
        free.append(index)
        if isEmpty {
            entries = []
            free = []
        }
    }

    private mutating func unlink(_ entry: Entry, from chain: Int, of key: Key, into removed: inout Removed) {
        let (previous, next) = (entry.previous[chain], entry.next[chain])
        if previous >= 0 { entries[previous]!.next[chain] = next }
        if next >= 0 { entries[next]!.previous[chain] = previous }
        if previous >= 0, next >= 0 { return }
        // A key is missing if the `==` or `hash(into:)` of a user's value is not pure.
        guard let position = chains.index(forKey: key) else { return }
        if previous < 0, next < 0 {
            removed.keys.append(chains.remove(at: position).key)
            if case .line(let line) = key { lines.remove(line) }
        } else if previous < 0 {
            chains.values[position].first = next
        } else {
            chains.values[position].last = previous
        }
    }
}

extension Notification {
    /// Whether both notifications have the very same `userInfo` dictionary, an empty one, or none.
    fileprivate func hasSameUserInfo(as other: Notification) -> Bool {
        guard let own = userInfo, let theirs = other.userInfo else { return userInfo == nil && other.userInfo == nil }
        if own.isEmpty || theirs.isEmpty { return own.isEmpty && theirs.isEmpty }
        // SAFETY: a dictionary is one word, the address of storage that both notifications keep alive; only compared.
        return unsafe unsafeBitCast(own, to: UInt.self) == unsafeBitCast(theirs, to: UInt.self)
    }
}
