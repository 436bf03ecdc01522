public import Foundation

/// The present observers: name and sender, owner, place of registration, target. Each row is of one
/// moment.
///
/// ```swift
/// print(center.audit())
/// #expect(center.audit().isEmpty)
/// ```
///
/// With `TETHER_AUDIT=exit` in the environment a program prints the audit of the process when the
/// program ends by itself: see [Watching a program](doc:WatchingAProgram).
///
/// *Representation*: a row of texts and numbers for each observer. Descriptions of your types run
/// without a lock. An audit retains no object.
///
/// *Cost*: O(n log n) for n observers, under a lock of the center. So audits are for tests and
/// diagnosis.
public struct Audit: Sendable, RandomAccessCollection {
    /// One observer.
    public struct Row: Sendable, Hashable {
        /// The center of the observer: `ObserverCenter.default`, or type and address; "none" for
        /// a task, a loop or a closure of an owner.
        public let center: String
        /// The observed name; `nil` for any.
        public let name: Notification.Name?
        /// The observed sender, by type and address or by value; `nil` for any.
        public let sender: String?
        /// The observer's owner, by type and address; `nil` if a token or a sequence holds the
        /// observer.
        public let owner: String?
        /// The file of the registering line, as `Module/File.swift`.
        public let file: String
        /// The line of the registering call.
        public let line: Int
        /// The target; for an async sequence the buffering policy, as "sequence, newest 2"; for the
        /// work of an owner "task", "loop over" and the type of the sequence, or "owner's end".
        public let target: String
        /// The number of pending deliveries, including a notification kept while the observer is
        /// muted.
        public let pending: Int
        /// The number of deliveries dropped by the target, by the backlog or a sequence's buffer,
        /// while muted, or because the observer was used up. `description` has the number for each
        /// reason.
        public var dropped: Int { drops.total }
        let drops: DropCounts
        /// The number of mutings by the token and by the owner in force; 0 if not muted.
        public let muteCount: Int
        /// Whether the observer ends after one call of the handler.
        public let isOnce: Bool
        /// The key that makes the observer the only one.
        public let key: String?
        /// The holder of an observer without an owner.
        let holder: String
        /// Whether the observed sender is an object.
        package let isSenderObject: Bool
        /// The work of an owner, which observes nothing; `nil` for an observer.
        package let work: OwnedWork?
    }

    /// The rows: of one center in registration order, of an owner in the order of attachment, and
    /// of the process center after center, with the work of owners at the end.
    public let rows: [Row]

    /// The position of the first row.
    public var startIndex: Int { 0 }
    /// The position past the last row.
    public var endIndex: Int { rows.count }
    /// The row at a position before `endIndex`; any other position stops the program.
    public subscript(position: Int) -> Row { rows[position] }

    /// The notifications that wait in one posting queue.
    public struct WaitingPosts: Sendable, Hashable {
        /// The thread or dispatch queue that will post.
        public let place: String
        /// How many notifications wait for the end of a run loop pass.
        public let asap: Int
        /// How many notifications wait for the run loop to be idle.
        public let whenIdle: Int
    }

    /// The posting queues of the center with pending posts.
    public let waitingPosts: [WaitingPosts]

    /// The number of enqueued posts that were dropped because their thread had exited.
    public let droppedPosts: Int

    init(_ registrations: [Unowned<Registration>], ledgers: [PostingLedger] = []) {
        rows = registrations.compactMap { $0.live.flatMap { Row($0) } }
        waitingPosts = ledgers.flatMap(\.waiting).map {
            .init(place: $0.place, asap: $0.asap, whenIdle: $0.whenIdle)
        }
        droppedPosts = ledgers.reduce(0) { $0 + $1.droppedPosts }
    }

    private init(rows: [Row]) {
        self.rows = rows
        waitingPosts = []
        droppedPosts = 0
    }

    /// The rows that satisfy a condition, as an audit to print or to draw, without the posts of
    /// posting queues.
    ///
    /// ```swift
    /// let waiting = center.audit().filter { $0.pending > 0 }
    /// ```
    public func filter(_ isIncluded: (Row) throws -> Bool) rethrows -> Audit {
        Audit(rows: try rows.filter(isIncluded))
    }

    /// The observers of all centers of the process: Tether's own, and the foreign centers with
    /// observers through Tether; center after center, in registration order. The tasks, loops and
    /// closures of all owners follow, in no order.
    public static func process() -> Audit {
        let cores = CenterCore.ofOwnCenters + ForeignCenters.shared.cores
        let observers = cores.flatMap { $0.registrations() }
        return Audit(observers + ObjectTable.shared.work, ledgers: cores.map(\.ledger))
    }
}

extension Audit.Row {
    /// `nil` for an observer that is not registered, or ends meanwhile: the values would be of
    /// different moments.
    fileprivate init?(_ registration: Registration) {
        work = registration.workHook?.work
        let known = registration.center.subject(of: registration)
        guard let subject = known ?? (work == nil ? nil : (nil, nil)) else { return nil }
        // In one step: a notification on the way from the pending deliveries to a sequence is then
        // counted once at most.
        let targetStandIn = registration.targetStandIn
        let (report, hookCounts) =
            registration.mailbox?.report(with: targetStandIn)
            ?? (Mailbox.Report(), targetStandIn?.counts ?? RegistrationHook.noCounts)
        guard !registration.hasEnded else { return nil }
        center = work == nil ? Audit.Row.description(of: registration.center) : "none"
        name = subject.name
        sender =
            switch subject.sender {
            case nil: nil
            case .object: registration.details?.sender?.description(as: "sender")
            case .value(let value): value.description
            }
        isSenderObject = if case .object = subject.sender { true } else { false }
        owner = registration.owned?.record?.description(as: "owner")
        file = registration.site.file
        line = registration.site.line
        target = targetStandIn?.targetDescription ?? report.target.description
        pending = report.pending + report.kept + hookCounts.pending
        drops = report.drops + hookCounts.drops
        muteCount = report.muted
        isOnce = registration.isOnce
        key = registration.details?.key?.description
        holder = targetStandIn == nil ? "token" : "sequence"
    }

    /// The name of a center: a constant for a shared center, type and address for others.
    private static func description(of core: CenterCore) -> String {
        switch core.kind {
        case .shared: "ObserverCenter.default"
        case .separate:
            core.ownCenter.map { describeInstance(of: "ObserverCenter", at: $0) }
                ?? "a deallocated center"
        case .foreign: ForeignCenters.shared.description(of: core)
        }
    }
}

extension Audit.Row: CustomStringConvertible {
    /// The row in one line.
    public var description: String {
        let subject = "\(describeName(name)) from \(sender ?? "any sender")"
        let holder = owner.map { "for \($0)" } ?? "for its \(holder)"
        let text =
            work == nil
            ? "\(subject) \(holder) on \(target), registered at \(file):\(line)"
            : "\(target) \(holder), registered at \(file):\(line)"
        let remarks = notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))"
        return printable(text + remarks)
    }
}

// MARK: JSON

extension Audit {
    /// The audit as JSON: an object with `observers`, `waitingPosts` and `droppedPosts`. An
    /// observer's absent `name`, `sender`, `owner` or `key` is left out.
    public func json() -> String {
        let observers = rows.map { row in
            let values: [String: Any?] = [
                "center": row.center, "name": row.name?.rawValue, "sender": row.sender,
                "owner": row.owner,
                "key": row.key, "target": row.target, "file": row.file, "line": row.line,
                "pending": row.pending,
                "dropped": row.dropped, "muteCount": row.muteCount, "isOnce": row.isOnce,
            ]
            return values.compactMapValues(\.self)
        }
        let waiting = waitingPosts.map {
            ["place": $0.place, "asap": $0.asap, "whenIdle": $0.whenIdle] as [String: Any]
        }
        let document: [String: Any] = [
            "observers": observers, "waitingPosts": waiting, "droppedPosts": droppedPosts,
        ]
        let options: JSONSerialization.WritingOptions = [
            .prettyPrinted, .sortedKeys, .withoutEscapingSlashes,
        ]
        guard let data = try? JSONSerialization.data(withJSONObject: document, options: options)
        else {
            preconditionFailure("Strings and numbers are always encodable.")
        }
        return String(decoding: data, as: UTF8.self)
    }
}

// MARK: The table

extension Audit: CustomStringConvertible {
    /// The rows as an aligned table under column names, without empty columns, in lines of at most
    /// 100 columns. The middle of a long cell is left out: `json()` has the whole text. The counts
    /// follow, and the pending and dropped posts of posting queues.
    public var description: String {
        let waiting = waitingPosts.map {
            "waiting on \($0.place): \($0.asap) as soon as possible, \($0.whenIdle) when idle"
        }
        let dropped =
            droppedPosts > 0
            ? ["dropped with their thread: \(counted(droppedPosts, "post"))"] : []
        return ((isEmpty ? ["no observers"] : table + [counts]) + waiting + dropped)
            .joined(separator: "\n")
    }

    /// The numbers of observers, of what else ends with an owner, of owners and of deliveries.
    private var counts: String {
        let owners = Set(rows.compactMap(\.owner)).count
        let pending = rows.reduce(0) { $0 + $1.pending }
        let dropped = rows.reduce(0) { $0 + $1.dropped }
        let kinds: [(work: OwnedWork?, name: String)] = [
            (nil, "observer"), (.task, "task"), (.loop, "loop"), (.closure, "closure"),
        ]
        let numbers = kinds.compactMap { kind in
            let number = rows.count { $0.work == kind.work }
            return number > 0 ? counted(number, kind.name) : nil
        }
        var text = numbers.joined(separator: ", ")
        if owners > 0 { text += " of \(counted(owners, "owner"))" }
        if pending > 0 { text += "; \(counted(pending, "delivery", "deliveries")) pending" }
        if dropped > 0 { text += "; \(counted(dropped, "delivery", "deliveries")) dropped" }
        return text
    }

    /// Whether all observers are of one center, which the table and pictures then leave out.
    package var isOneCenter: Bool {
        Set(rows.lazy.filter { $0.work == nil }.map(\.center)).count < 2
    }

    /// The longest line of the table.
    private static let longestLine = 100

    /// The lines of the table, without spaces at their ends. Long notes that do not fit beside the
    /// columns stand below their row.
    private var table: [String] {
        let notes = rows.map { row in
            printable(row.notes.joined(separator: ", "), limit: Audit.longestLine - 4)
        }
        let notesColumn = Column("notes", notes)
        var columns = columns.filter(\.isShown)
        let areNotesBeside =
            notesColumn.width <= 24
            || Audit.width(of: columns + [notesColumn]) <= Audit.longestLine
        if areNotesBeside, notesColumn.isShown { columns.append(notesColumn) }
        columns = Audit.narrowed(columns)
        var lines = [columns.line(0)]
        for (index, notes) in notes.enumerated() {
            lines.append(columns.line(index + 1))
            if !areNotesBeside, !notes.isEmpty { lines.append("    \(notes)") }
        }
        return lines
    }

    /// Shortens the widest columns until a line of all columns is short enough: the places of
    /// registrations, in the first column, after all others.
    private static func narrowed(_ columns: [Column]) -> [Column] {
        var widths = columns.map(\.width)
        var excess = width(of: columns) - longestLine
        while excess > 0 {
            let others = widths.indices.dropFirst().filter { widths[$0] > 12 }
            let widest = others.max { widths[$0] < widths[$1] } ?? 0
            guard widths[widest] > 12 else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return zip(columns, widths).map { $0.limited(to: $1) }
    }

    private static func width(of columns: [Column]) -> Int {
        columns.reduce(0) { $0 + $1.width } + 2 * Swift.max(columns.count - 1, 0)
    }

    /// All columns but the notes, from left to right.
    private var columns: [Column] {
        func column(_ title: String, isShown: Bool = true, _ text: (Row) -> String) -> Column {
            Column(title, isShown: isShown, rows.map { printable(text($0), limit: 26) })
        }
        return [
            Column("registered at", rows.map { printable("\($0.file):\($0.line)", limit: 60) }),
            column("center", isShown: !isOneCenter) { $0.center },
            column("name") { $0.name?.rawValue ?? $0.any },
            column("sender", isShown: rows.contains { $0.sender != nil }) { $0.sender ?? $0.any },
            column("owner") { $0.owner ?? "its \($0.holder)" },
            column("target") { $0.target },
        ]
    }

    fileprivate struct Column {
        /// The title, and a cell for each row.
        private let cells: [String]
        let width: Int
        /// A column without any text is never shown.
        let isShown: Bool

        init(_ title: String, isShown: Bool = true, _ texts: [String]) {
            self.init(
                cells: [title] + texts, isShown: isShown && texts.contains { !$0.isEmpty })
        }

        private init(cells: [String], isShown: Bool) {
            self.cells = cells
            self.isShown = isShown
            width = cells.reduce(0) { Swift.max($0, $1.count) }
        }

        /// The column with shorter cells.
        func limited(to width: Int) -> Column {
            Column(cells: cells.map { printable($0, limit: width) }, isShown: isShown)
        }

        func padded(_ line: Int) -> String {
            cells[line] + String(repeating: " ", count: width - cells[line].count)
        }
    }
}

extension [Audit.Column] {
    /// A line of all columns, without spaces at its end.
    fileprivate func line(_ number: Int) -> String {
        var text = map { $0.padded(number) }.joined(separator: "  ")
        while text.last == " " { text.removeLast() }
        return text
    }
}

extension Audit.Row {
    /// The cell of a name or sender that is `nil`.
    fileprivate var any: String { work == nil ? "any" : "none" }

    /// The last column.
    package var notes: [String] {
        var notes: [String] = []
        if isOnce { notes.append("once") }
        if let key { notes.append("key \(key)") }
        if pending > 0 { notes.append("\(pending) pending") }
        for reason in DropReason.allCases where drops[reason] > 0 {
            notes.append("\(drops[reason]) dropped: \(reason.words)")
        }
        if muteCount > 0 { notes.append(muteCount == 1 ? "muted" : "muted \(muteCount) times") }
        return notes
    }
}
