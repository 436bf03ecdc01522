internal import Foundation

extension Audit {
    /// The audit as JSON: an object with `observers`, `waitingPosts` and `droppedPosts`.
    ///
    /// An observer's `name`, `sender`, `owner` and `key` are absent where there is none.
    public func json() -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(Document(self)) else {
            // Not covered: nothing leads here.
            fatalError("Audit.json(): strings and numbers are always encodable.")
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// The audit as a graph for Graphviz: `dot -Tsvg` draws who posts, who observes, for whom, delivered where.
    ///
    /// Ellipses are centers, boxes observers, houses owners, and cylinders targets. An arrow goes the way of a
    /// notification; a dashed line says whose life bounds an observer.
    public func graph() -> String {
        var nodes: [String] = []
        var identifiers: [String: String] = [:]
        var edges: [String] = []
        func node(_ kind: String, _ label: String, _ shape: String) -> String {
            if let known = identifiers[kind + label] { return known }
            let identifier = "\(kind)\(identifiers.count)"
            identifiers[kind + label] = identifier
            nodes.append("\(identifier) [label=\(quoted(label)), shape=\(shape)]")
            return identifier
        }
        for (index, row) in rows.enumerated() {
            let observer = "observer\(index)"
            let label = (["\(row.file):\(row.line)"] + row.notes).joined(separator: "\n")
            nodes.append("\(observer) [label=\(quoted(label)), shape=box]")
            let subject = (row.name?.rawValue ?? "any name") + (row.sender.map { "\nfrom \($0)" } ?? "")
            edges.append("\(node("center", row.center, "ellipse")) -> \(observer) [label=\(quoted(subject))]")
            edges.append("\(observer) -> \(node("target", row.target, "cylinder"))")
            if let owner = row.owner {
                edges.append("\(node("owner", owner, "house")) -> \(observer) [style=dashed, arrowhead=none]")
            }
        }
        let lines = ["rankdir=LR", "node [fontname=Helvetica]"] + nodes + edges
        return "digraph observers {\n" + lines.map { "    \($0);\n" }.joined() + "}\n"
    }

    private func quoted(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"\(escaped)\""
    }

    private struct Document: Encodable {
        let observers: [Observer]
        let waitingPosts: [Waiting]
        let droppedPosts: Int

        init(_ audit: Audit) {
            observers = audit.rows.map(Observer.init)
            waitingPosts = audit.waitingPosts.map(Waiting.init)
            droppedPosts = audit.droppedPosts
        }

        struct Observer: Encodable {
            let center, file, target: String
            let name, sender, owner, key: String?
            let line, pending, dropped, muteCount: Int
            let isOnce: Bool

            init(_ row: Row) {
                (center, file, target) = (row.center, row.file, row.target)
                (name, sender, owner, key) = (row.name?.rawValue, row.sender, row.owner, row.key)
                (line, pending, dropped) = (row.line, row.pending, row.dropped)
                (muteCount, isOnce) = (row.muteCount, row.isOnce)
            }
        }

        struct Waiting: Encodable {
            let place: String
            let asap, whenIdle: Int

            init(_ waiting: WaitingPosts) {
                (place, asap, whenIdle) = (waiting.place, waiting.asap, waiting.whenIdle)
            }
        }
    }
}
