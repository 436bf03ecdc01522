internal import Foundation

/// The notifications that wait in a posting queue: a value with O(1) enqueueing and coalescing at any backlog.
///
/// Every entry hangs in four chains: its line (style and modes), its name, its sender, and both. A chain's key leads
/// to its first entry, so that what a new notification coalesces with is found without a look at the rest (Q9).
struct PostingBacklog {
    typealias Style = PostingQueue.PostingStyle
    typealias Coalescing = PostingQueue.NotificationCoalescing

    /// A line in which notifications wait in order.
    struct Line: Hashable {
        let style: Style
        let modes: Set<RunLoop.Mode>
    }

    /// The key on which notifications coalesce.
    private enum Key: Hashable {
        case line(Line)
        case name(Notification.Name)
        case sender(Sender)
        case both(Notification.Name, Sender)

        var asLine: Line? { if case .line(let line) = self { line } else { nil } }
    }

    /// A sender for coalescing: those without are equal to each other; a value that is not `Hashable`, or not equal to
    /// itself, is only itself.
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
        /// The neighbours in each of its chains; -1 for none.
        var previous = SIMD4<Int>(repeating: -1)
        var next = SIMD4<Int>(repeating: -1)

        /// The keys of its chains.
        func key(_ chain: Int) -> Key {
            switch chain {
            case 0: .line(line)
            case 1: .name(notification.name)
            case 2: .sender(sender)
            default: .both(notification.name, sender)
            }
        }
    }

    private struct Chain {
        var first: Int
        var last: Int
    }

    private var entries: ContiguousArray<Entry?> = []
    private var free: [Int] = []
    private var chains: [Key: Chain] = [:]
    /// The lines in which something waits.
    private(set) var lines: Set<Line> = []
    private(set) var count = 0
    private(set) var nextSequence: UInt64 = 0

    var isEmpty: Bool { count == 0 }

    /// All modes in which something waits.
    var modes: Set<RunLoop.Mode> { lines.reduce(into: []) { $0.formUnion($1.modes) } }

    func count(of style: Style) -> Int { entries.lazy.compactMap(\.self).count { $0.line.style == style } }

    /// The entries that a removal took out, to be released where user code may run.
    ///
    /// SAFETY: only released.
    struct Removed: @unchecked Sendable {
        fileprivate var entries: [Any] = []
        fileprivate var keys: [Any] = []
        var count: Int { entries.count }
    }

    // MARK: Enqueueing

    /// Adds a notification at the back of its line; true if the line was empty.
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
        checkInvariants()
        return lines.insert(line).inserted
    }

    private mutating func link(_ index: Int, into chain: Int, of key: Key) {
        guard let last = chains[key]?.last else {
            chains[key] = Chain(first: index, last: index)
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

    /// Removes what a notification coalesces with; nothing for an empty mask. Complexity: O(removed).
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
    /// Complexity: O(those of the same name and sender).
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
        // Taking out the last one leaves no entries to look at.
        for index in entries.indices where !isEmpty && entries[index] != nil { remove(at: index, into: &removed) }
        return removed
    }

    /// Takes the next notification of a style whose line is open and whose sequence is below a limit.
    ///
    /// Complexity: O(lines).
    mutating func popFirst(
        _ style: Style, before limit: UInt64, isOpen: (Set<RunLoop.Mode>) -> Bool
    ) -> (notification: Notification, removed: Removed)? {
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
        return (oldest.entry.notification, removed)
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
        checkInvariants()
    }

    /// Whether the two directions of each chain agree, and all entries are counted, where there are few.
    private func checkInvariants() {
        #if DEBUG
        guard entries.count <= checkedSize else { return }
        assert(entries.count { $0 != nil } == count && count + free.count == entries.count)
        for (index, entry) in entries.enumerated() {
            guard let entry else { continue }
            for chain in 0..<4 {
                assert(entry.next[chain] < 0 || entries[entry.next[chain]]?.previous[chain] == index)
                assert(entry.previous[chain] < 0 || entries[entry.previous[chain]]?.next[chain] == index)
            }
        }
        #endif
    }

    private mutating func unlink(_ entry: Entry, from chain: Int, of key: Key, into removed: inout Removed) {
        let (previous, next) = (entry.previous[chain], entry.next[chain])
        if previous >= 0 { entries[previous]!.next[chain] = next }
        if next >= 0 { entries[next]!.previous[chain] = previous }
        if previous >= 0, next >= 0 { return }
        // Not covered: the return, which takes a value whose `==` or `hash(into:)` is not pure.
        guard let position = chains.index(forKey: key) else { return }
        if previous < 0, next < 0 {
            // The dictionary's key may hold the last reference to a value of the user's.
            removed.keys.append(chains.remove(at: position).key)
            if let line = key.asLine { lines.remove(line) }
        } else if previous < 0 {
            chains.values[position].first = next
        } else {
            chains.values[position].last = previous
        }
    }
}

extension Notification {
    /// Whether the other one's `userInfo` is this one's very dictionary, or both have none.
    fileprivate func hasSameUserInfo(as other: Notification) -> Bool {
        guard let own = userInfo, let theirs = other.userInfo else { return userInfo == nil && other.userInfo == nil }
        if own.isEmpty || theirs.isEmpty { return own.isEmpty && theirs.isEmpty }
        // SAFETY: a dictionary is one word, the address of its storage, which both keep alive; the words are compared.
        return unsafe unsafeBitCast(own, to: UInt.self) == unsafeBitCast(theirs, to: UInt.self)
    }
}
