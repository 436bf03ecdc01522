internal import Foundation

/// The notifications that wait in a posting queue: a value with O(1) enqueueing and coalescing at any backlog (Q9).
///
/// *Representation*: each notification has a number, and later ones have higher numbers. A notification's number is in
/// four sets: of its line, of its name, of its sender, and of both. So the numbers to coalesce with are found directly.
struct PostingBacklog {
    typealias Number = UInt64
    typealias Style = PostingQueue.PostingStyle
    typealias Coalescing = PostingQueue.NotificationCoalescing

    /// The notifications of one style and the same modes.
    private struct Line: Hashable {
        let style: Style
        let modes: Set<RunLoop.Mode>
    }

    /// The key of a set of equal notifications.
    private enum Key: Hashable {
        case name(Notification.Name)
        case sender(Sender)
        case both(Notification.Name, Sender)
    }

    /// A sender for coalescing. Absent senders are equal to each other. A value that is not `Hashable`, or not equal to
    /// itself, equals no other sender.
    private enum Sender: Hashable {
        case none
        case key(SenderKey)
        case unique(Number)
    }

    private struct Entry {
        let notification: Notification
        let sender: Sender
        let line: Line

        var keys: [Key] { [.name(notification.name), .sender(sender), .both(notification.name, sender)] }
    }

    private var entries: [Number: Entry] = [:]
    private var lines: [Line: Set<Number>] = [:]
    private var equals: [Key: Set<Number>] = [:]
    private var nextNumber: Number = 0

    var isEmpty: Bool { entries.isEmpty }

    /// The sets of modes of all waiting notifications.
    var modes: some Sequence<Set<RunLoop.Mode>> { lines.keys.lazy.map(\.modes) }

    func count(of style: Style) -> Int { lines.reduce(0) { $0 + ($1.key.style == style ? $1.value.count : 0) } }

    /// Removed notifications, to be posted or released where user code may run.
    ///
    /// SAFETY: only posted once, or released.
    struct Removed: @unchecked Sendable {
        fileprivate(set) var notifications: [Notification] = []
        /// A key may have the last reference to a value of the user's.
        fileprivate var keys: [Any] = []
    }

    // MARK: Enqueueing

    /// Adds a notification at the back of a line; true if the line was empty.
    mutating func append(_ notification: Notification, style: Style, modes: Set<RunLoop.Mode>) -> Bool {
        let line = Line(style: style, modes: modes)
        let entry = Entry(notification: notification, sender: sender(of: notification), line: line)
        entries[nextNumber] = entry
        for key in entry.keys { equals[key, default: []].insert(nextNumber) }
        lines[line, default: []].insert(nextNumber)
        nextNumber += 1
        return lines[line]?.count == 1
    }

    private func sender(of notification: Notification) -> Sender {
        let content = notification.object.map(Unwrapped.init) ?? .nothing
        if case .nothing = content { return .none }
        guard let key = SenderKey(content), key == key else { return .unique(nextNumber) }
        return .key(key)
    }

    // MARK: Removing

    /// Removes the notifications that a new one coalesces with; none for an empty mask. Complexity: O(removed).
    mutating func removeAll(matching notification: Notification, on mask: Coalescing) -> Removed {
        switch mask {
        case [.onName, .onSender]: remove(equals[.both(notification.name, sender(of: notification))] ?? [])
        case .onName: remove(equals[.name(notification.name)] ?? [])
        case .onSender: remove(equals[.sender(sender(of: notification))] ?? [])
        default: Removed()
        }
    }

    /// Removes exactly one notification: the oldest with the same name, sender and `userInfo`.
    ///
    /// Complexity: O(notifications of the same name and sender).
    mutating func removeOne(_ notification: Notification) -> Removed {
        let equal = equals[.both(notification.name, sender(of: notification))] ?? []
        let same = equal.filter { entries[$0]?.notification.hasSameUserInfo(as: notification) == true }
        return remove(same.min().map { [$0] } ?? [])
    }

    mutating func removeAll() -> Removed { remove(Set(entries.keys)) }

    /// Removes the notifications that still wait, of some numbers.
    mutating func remove(_ numbers: some Sequence<Number>) -> Removed {
        var removed = Removed()
        for number in numbers {
            guard let entry = entries.removeValue(forKey: number) else { continue }
            removed.notifications.append(entry.notification)
            for key in entry.keys {
                // A key is missing if the `==` or `hash(into:)` of a user's value is not pure.
                guard let index = equals.index(forKey: key) else { continue }
                equals.values[index].remove(number)
                if equals.values[index].isEmpty { removed.keys.append(equals.remove(at: index).key) }
            }
            lines[entry.line]?.remove(number)
            if lines[entry.line]?.isEmpty == true { lines[entry.line] = nil }
        }
        return removed
    }

    // MARK: Posting

    /// The numbers of the waiting notifications to post, in order: style after style, and first in, first out.
    ///
    /// Complexity: O(lines + n log n) for n numbers.
    func due(_ styles: [Style], isOpen: (Set<RunLoop.Mode>) -> Bool) -> [Number] {
        styles.flatMap { style in
            lines.filter { $0.key.style == style && isOpen($0.key.modes) }.flatMap(\.value).sorted()
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
