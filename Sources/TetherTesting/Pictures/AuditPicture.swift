internal import Foundation
public import Tether

/// Draws the observers of an audit: subjects on the left, targets on the right, and owners around
/// their observers.
///
/// Objects are named by type, because an address says nothing in a picture. Observers held by
/// tokens follow the observers of owners.
extension Audit {
    /// The audit as a graph for Graphviz: draw with `dot -Tsvg`.
    ///
    /// Ellipses are names with their senders. Boxes are observers, with the line of each
    /// registration, in the frame of their owner. Cylinders are targets. Arrows follow the
    /// notifications. An observer with dropped deliveries is red, or else with pending deliveries
    /// yellow, or else grey if muted.
    public func dot() -> String { diagram.graphviz }

    /// The audit as a flow chart for Mermaid, which Markdown on many hosts draws; see `dot()`.
    public func mermaid() -> String { diagram.mermaid }

    /// The audit as an SVG picture, with titles of the columns and a legend; see `dot()`.
    public func svg() -> String { diagram.svg }

    var diagram: Diagram {
        var diagram = Diagram(mainColumn: 1)
        diagram.heads = ["posted", "owner, and where it observes", "runs on"]
        diagram.legend = [
            (.yellow, "deliveries wait"), (.red, "deliveries were dropped"), (.grey, "muted"),
        ]
        let (subjects, targets) = (subjects, rows.map(\.target))
        let subjectBoxes = Audit.numbers(of: subjects) {
            diagram.add(Diagram.Box($0, .pill, .green, column: 0))
        }
        let targetBoxes = Audit.numbers(of: targets) {
            diagram.add(Diagram.Box([$0], .cylinder, .violet, column: 2))
        }
        var owners = Instances()
        let names = rows.map { $0.owner.map { owners.name(of: $0) } }
        let groups = Dictionary(grouping: rows.indices) { names[$0] }
            .sorted { $0.key != nil && ($1.key == nil || $0.value[0] < $1.value[0]) }
        for (name, indices) in groups {
            let first = diagram.boxes.count
            for index in indices {
                let row = rows[index]
                let notes = row.notes.isEmpty ? [] : [row.notes.joined(separator: ", ")]
                let observer = diagram.add(
                    Diagram.Box(["\(row.file):\(row.line)"] + notes, .box, row.tint, column: 1))
                if let subject = subjectBoxes[subjects[index]] { diagram.join(subject, observer) }
                if let target = targetBoxes[targets[index]] { diagram.join(observer, target) }
            }
            if let name { diagram.frame(from: first, name) }
        }
        return diagram
    }

    /// For each row a line for the name, one for the sender, if any, and one for the center, if
    /// there are several.
    private var subjects: [[String]] {
        var senders = Instances()
        let isOneCenter = Set(rows.map(\.center)).count < 2
        return rows.map { row in
            [describeName(row.name)]
                + (row.sender.map { ["from \(row.isSenderObject ? senders.name(of: $0) : $0)"] }
                    ?? [])
                + (isOneCenter ? [] : ["on \(row.center)"])
        }
    }

    /// Adds each different element once, in order, and returns its number.
    private static func numbers<Element: Hashable>(of elements: [Element], add: (Element) -> Int)
        -> [Element: Int]
    {
        var numbers: [Element: Int] = [:]
        for element in elements where numbers[element] == nil { numbers[element] = add(element) }
        return numbers
    }

    /// Names objects by their types, with a number from the second object of a type on.
    private struct Instances {
        private var names: [String: String] = [:]
        private var counts: [String: Int] = [:]

        mutating func name(of description: String) -> String {
            if let known = names[description] { return known }
            guard let address = description.range(of: " 0x", options: .backwards) else {
                return description
            }
            let type = String(description[..<address.lowerBound])
            let number = (counts[type] ?? 0) + 1
            counts[type] = number
            let name = number == 1 ? type : "\(type) \(number)"
            names[description] = name
            return name
        }
    }
}

extension Audit.Row {
    /// The tint of an observer in a picture.
    fileprivate var tint: Diagram.Tint {
        if dropped > 0 { return .red }
        if pending > 0 { return .yellow }
        return muteCount > 0 ? .grey : .white
    }
}
