internal import Foundation

/// The notifications that wait in a posting queue: a value with O(1) enqueueing and coalescing at
/// any backlog (Q9).
///
/// *Representation*: each notification has a number, and later ones have higher numbers. Two tables
/// of numbers find the notifications to post, and those to coalesce with. Coalescing on the sender
/// alone looks at each waiting name.
struct PostingBacklog {
    typealias Number = UInt64
    typealias Style = PostingQueue.PostingStyle
    typealias Coalescing = PostingQueue.NotificationCoalescing

    /// The notifications of one style and the same modes.
    private struct Line: Hashable {
        let style: Style
        let modes: Set<RunLoop.Mode>
    }

    /// A sender for coalescing. Absent senders are equal to each other. A value that is not
    /// `Hashable`, or not equal to itself, equals no other sender. Neither does an object that was
    /// being deinitialized, and is not kept.
    fileprivate enum Sender: Hashable {
        case none
        case key(SenderKey)
        case unique(Number)
    }

    private struct Entry {
        let notification: Notification
        let sender: Sender
        let line: Line
    }

    private var entries: [Number: Entry] = [:]
    private var lines: [Line: Set<Number>] = [:]
    private var numbersBySender: [Notification.Name: [Sender: Set<Number>]] = [:]
    private var nextNumber: Number = 0

    var isEmpty: Bool { entries.isEmpty }

    /// The sets of modes of all waiting notifications.
    var modes: some Sequence<Set<RunLoop.Mode>> { lines.keys.lazy.map(\.modes) }

    func count(of style: Style) -> Int {
        lines.reduce(0) { $0 + ($1.key.style == style ? $1.value.count : 0) }
    }

    /// Removed notifications, to be posted or released where user code may run.
    ///
    /// SAFETY: only posted once, or released.
    struct Removed: @unchecked Sendable {
        fileprivate(set) var notifications: [Notification] = []
        /// A key of the tables may have the last reference to a value of the user's.
        fileprivate var senders: [Sender] = []
    }

    // MARK: Enqueueing

    /// Adds a notification at the back of a line; true if the line was empty.
    ///
    /// `hasLostSender`: the notification is without its object, which is being deinitialized (X3).
    mutating func append(
        _ notification: Notification, style: Style, modes: Set<RunLoop.Mode>,
        hasLostSender: Bool = false
    ) -> Bool {
        let line = Line(style: style, modes: modes)
        let sender = hasLostSender ? .unique(nextNumber) : sender(of: notification)
        entries[nextNumber] = Entry(notification: notification, sender: sender, line: line)
        numbersBySender[notification.name, default: [:]][sender, default: []].insert(nextNumber)
        lines[line, default: []].insert(nextNumber)
        nextNumber += 1
        checkInvariants()
        return lines[line]?.count == 1
    }

    private func sender(of notification: Notification) -> Sender {
        let content = notification.object.map(Unwrapped.init) ?? .nothing
        if case .nothing = content { return .none }
        guard let key = SenderKey(content), key == key else { return .unique(nextNumber) }
        return .key(key)
    }

    // MARK: Removing

    /// Removes the notifications that a new one coalesces with; none for an empty mask. Complexity:
    /// O(removed), or on the sender alone O(waiting names).
    mutating func removeAll(matching notification: Notification, on mask: Coalescing) -> Removed {
        let sender = mask.contains(.onSender) ? sender(of: notification) : .none
        switch mask.intersection([.onName, .onSender]) {
        case [.onName, .onSender]:
            return remove(Array(numbersBySender[notification.name]?[sender] ?? []))
        case .onName:
            return remove(numbersBySender[notification.name]?.values.flatMap(\.self) ?? [])
        case .onSender: return remove(numbersBySender.values.flatMap { $0[sender] ?? [] })
        default: return Removed()
        }
    }

    /// Removes exactly one notification: the oldest with the same name, sender and `userInfo`.
    ///
    /// Complexity: O(notifications of the same name and sender).
    mutating func removeOne(_ notification: Notification) -> Removed {
        let equal = numbersBySender[notification.name]?[sender(of: notification)] ?? []
        let same = equal.filter {
            entries[$0]?.notification.hasSameUserInfo(as: notification) == true
        }
        return remove(same.min().map { [$0] } ?? [])
    }

    mutating func removeAll() -> Removed { remove(Set(entries.keys)) }

    /// Removes the notifications that still wait, of some numbers.
    mutating func remove(_ numbers: some Sequence<Number>) -> Removed {
        var removed = Removed()
        for number in numbers {
            guard let entry = entries.removeValue(forKey: number) else { continue }
            removed.notifications.append(entry.notification)
            lines[entry.line]?.remove(number)
            if lines[entry.line]?.isEmpty == true { lines[entry.line] = nil }
            // A sender is missing if the `==` or `hash(into:)` of a user's value is not pure.
            guard let name = numbersBySender.index(forKey: entry.notification.name),
                let sender = numbersBySender.values[name].index(forKey: entry.sender)
            else { continue }
            numbersBySender.values[name].values[sender].remove(number)
            if numbersBySender.values[name].values[sender].isEmpty {
                removed.senders.append(numbersBySender.values[name].remove(at: sender).key)
                if numbersBySender.values[name].isEmpty { numbersBySender.remove(at: name) }
            }
        }
        entries.releaseUnusedCapacity()
        numbersBySender.releaseUnusedCapacity()
        checkInvariants()
        return removed
    }

    /// Checks, in debug builds, that each waiting notification is in its line, that no line is
    /// empty, and that a sender is known for each notification.
    ///
    /// The senders' table may have more numbers than there are notifications: if the `==` of a
    /// user's value is not pure, a removal finds no sender.
    private func checkInvariants() {
        #if DEBUG
        guard entries.count <= checkedSize else { return }
        var numbersInLines = 0
        for numbers in lines.values {
            assert(!numbers.isEmpty, "A line of a posting queue's backlog is empty.")
            numbersInLines += numbers.count
        }
        assert(numbersInLines == entries.count, "The lines of a backlog differ from its entries.")
        for (number, entry) in entries {
            assert(number < nextNumber, "A number of a backlog is not used yet.")
            let isInLine = lines[entry.line]?.contains(number) == true
            assert(isInLine, "A waiting notification is missing in its line.")
        }
        let known = numbersBySender.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.count } }
        assert(known >= entries.count, "A backlog lacks the sender of a notification.")
        #endif
    }

    // MARK: Posting

    /// The numbers of the waiting notifications to post, in order: style after style, and first in,
    /// first out.
    ///
    /// Complexity: O(lines + n log n) for n numbers.
    func due(_ styles: [Style], isOpen: (Set<RunLoop.Mode>) -> Bool) -> [Number] {
        styles.flatMap { style in
            lines.filter { $0.key.style == style && isOpen($0.key.modes) }.flatMap(\.value).sorted()
        }
    }
}

extension Notification {
    /// Whether both notifications have the very same `userInfo` dictionary, or nothing in it.
    fileprivate func hasSameUserInfo(as other: Notification) -> Bool {
        let own = userInfo ?? [:]
        let theirs = other.userInfo ?? [:]
        if own.isEmpty || theirs.isEmpty { return own.isEmpty && theirs.isEmpty }
        // SAFETY: a dictionary is one word, the address of storage that both notifications keep
        // alive; only compared.
        return unsafe unsafeBitCast(own, to: UInt.self) == unsafeBitCast(theirs, to: UInt.self)
    }
}
