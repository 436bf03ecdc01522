internal import Foundation

extension Audit: CustomStringConvertible {
    /// The rows as an aligned table, a line each, under the names of the columns, without empty columns. The pending and
    /// dropped posts of posting queues follow.
    ///
    /// ```
    /// name            sender  owner      target  registered at  notes
    /// modelDidChange  any     its token  main    App/V.swift:4  once
    /// modelDidClose   any     its token  posting thread  App/W.swift:9
    /// ```
    public var description: String {
        let waiting = waitingPosts.map {
            "waiting on \($0.place): \($0.asap) as soon as possible, \($0.whenIdle) when idle"
        }
        let dropped = droppedPosts > 0 ? ["dropped with their queue or thread: \(droppedPosts) posts"] : []
        return ((isEmpty ? ["no observers"] : table) + waiting + dropped).joined(separator: "\n")
    }

    /// The largest width of a column in characters. A longer cell widens its own line only.
    private static let widestColumn = 60

    private var table: [String] {
        let centers = Set(rows.map(\.center))
        var columns: [(title: String, cells: [String])] = [
            ("name", rows.map { $0.name?.rawValue ?? "any" }),
            ("sender", rows.map { $0.sender ?? "any" }),
            ("owner", rows.map { $0.owner ?? "its \($0.holder)" }),
            ("target", rows.map(\.target)),
            ("registered at", rows.map { "\($0.file):\($0.line)" }),
            ("notes", rows.map { $0.notes.joined(separator: ", ") }),
        ]
        if centers.count > 1 { columns.insert(("center", rows.map(\.center)), at: 0) }
        columns.removeAll { $0.cells.allSatisfy(\.isEmpty) }
        for column in columns.indices { columns[column].cells = columns[column].cells.map(\.onOneLine) }
        let widths = columns.map { column in
            column.cells.map(\.count).reduce(column.title.count) { Swift.max($0, Swift.min($1, Audit.widestColumn)) }
        }
        func line(_ cells: [String]) -> String {
            zip(cells, widths).map { $0 + String(repeating: " ", count: Swift.max(0, $1 - $0.count)) }
                .joined(separator: "  ").trimmingTrailingSpaces
        }
        return [line(columns.map(\.title))] + rows.indices.map { row in line(columns.map { $0.cells[row] }) }
    }
}

extension Audit.Row {
    /// The last column.
    package var notes: [String] {
        var notes: [String] = []
        if isOnce { notes.append("once") }
        if let key { notes.append("key \(key)") }
        if pending > 0 { notes.append("\(pending) pending") }
        if dropped > 0 { notes.append("\(dropped) dropped") }
        if muteCount > 0 { notes.append(muteCount == 1 ? "muted" : "muted \(muteCount) times") }
        return notes
    }
}

extension String {
    /// The text with its control characters, such as a line's end, written out.
    fileprivate var onOneLine: String {
        func isControl(_ scalar: Unicode.Scalar) -> Bool {
            let properties = scalar.properties
            return [.control, .lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
                || properties.isBidiControl
        }
        guard unicodeScalars.contains(where: isControl) else { return self }
        return unicodeScalars.reduce(into: "") { $0 += isControl($1) ? $1.escaped(asASCII: true) : String($1) }
    }

    fileprivate var trimmingTrailingSpaces: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
