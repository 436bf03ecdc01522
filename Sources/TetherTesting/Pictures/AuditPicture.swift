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
    /// yellow, or else grey if muted. Equal observers of an owner are one box, "× n", and so are
    /// owners of one type with equal observers.
    ///
    /// A picture of more than 60 boxes has no arrows: each box has its names and its target. There,
    /// owners of one type are one frame, and their observers of one line and target one box. To draw
    /// a part, `filter` the audit. For hundreds of observers, `html()` makes a page.
    public func dot() -> String { diagram.graphviz }

    /// The audit as a flow chart for Mermaid, which Markdown on many hosts draws; see `dot()`.
    ///
    /// Mermaid refuses more than 500 arrows or 50,000 characters unless it is configured otherwise:
    /// 250 boxes have about 500 arrows.
    public func mermaid() -> String { diagram.mermaid }

    /// The audit as an SVG picture, with titles of the columns and a legend; see `dot()`.
    public func svg() -> String { diagram.svg }

    var diagram: Diagram {
        let detailed = groups
        let hasArrows = detailed.reduce(0) { $0 + $1.boxes.count } <= 60
        let groups = hasArrows ? detailed : coarseGroups
        let column = hasArrows ? 1 : 0
        var diagram = Diagram(mainColumn: column)
        diagram.legend = [
            (.yellow, "deliveries wait"), (.red, "deliveries were dropped"), (.grey, "muted"),
        ]
        diagram.heads =
            hasArrows
            ? ["posted", "owner, and where it observes", "runs on"]
            : ["owner, where it observes, and what"]
        let boxes = hasArrows ? groups.flatMap { $0.boxes.map(\.content) } : []
        let subjectBoxes = Audit.numbers(of: boxes.map(\.subject).filter { !$0.isEmpty }) {
            diagram.add(Diagram.Box($0, .pill, .green, column: 0))
        }
        let targetBoxes = Audit.numbers(of: boxes.map(\.target)) {
            diagram.add(Diagram.Box([$0], .cylinder, .violet, column: 2))
        }
        for group in groups {
            let first = diagram.boxes.count
            for (content, count) in group.boxes {
                let place = count == 1 ? content.place : "\(content.place) × \(count)"
                let details = hasArrows ? [] : content.subject + ["on \(content.target)"]
                let notes = content.notes.isEmpty ? [] : [content.notes]
                let observer = diagram.add(
                    Diagram.Box([place] + details + notes, .box, content.tint, column: column))
                if let subject = subjectBoxes[content.subject] { diagram.join(subject, observer) }
                if let target = targetBoxes[content.target] { diagram.join(observer, target) }
            }
            if let title = group.title { diagram.frame(from: first, title) }
        }
        return diagram
    }

    /// What a box shows of an observer.
    private struct Content: Hashable {
        let place: String
        let subject: [String]
        let target: String
        let notes: String
        let tint: Diagram.Tint
    }

    /// A frame with its boxes, or the boxes without an owner. Each box stands for a number of equal
    /// observers of one owner.
    private struct Group {
        var title: String?
        let boxes: [(content: Content, count: Int)]
    }

    /// What a box would show of each row.
    private var contents: [Content] {
        var targets = Instances()
        return zip(rows, subjects).map { row, subject in
            Content(
                place: "\(row.file):\(row.line)", subject: subject,
                target: targets.name(of: row.target),
                notes: row.notes.joined(separator: ", "), tint: row.tint)
        }
    }

    /// For many boxes: the types of owners in order of their first rows, then the observers without
    /// an owner. Observers of one line and target are one box, with their first name.
    private var coarseGroups: [Group] {
        let contents = contents
        let types = rows.map { row in row.owner.map { Instances.type(of: $0) ?? $0 } }
        let byType = Dictionary(grouping: rows.indices) { types[$0] }
            .sorted { $0.key != nil && ($1.key == nil || $0.value[0] < $1.value[0]) }
        return byType.map { type, indices in
            let byPlace = Dictionary(grouping: indices) {
                [contents[$0].place, contents[$0].target]
            }
            let boxes = byPlace.values.sorted { $0[0] < $1[0] }.map { alike in
                (Audit.merged(alike.map { contents[$0] }), alike.count)
            }
            let owners = Set(indices.compactMap { rows[$0].owner }).count
            return Group(title: type.map { owners > 1 ? "\($0) × \(owners)" : $0 }, boxes: boxes)
        }
    }

    /// The first of some contents, with the number of other names, and the most urgent tint.
    private static func merged(_ contents: [Content]) -> Content {
        let first = contents[0]
        let others = Set(contents.map(\.subject)).count - 1
        var subject = first.subject
        if others > 0 {
            // Short, so that the label is not cut where one part ends and the next begins.
            let parts = subject.map { printable($0, limit: 20) }
            subject = [parts.joined(separator: " ") + " and \(counted(others, "other"))"]
        }
        let tints: [Diagram.Tint] = [.red, .yellow, .grey]
        let tint = tints.first { tint in contents.contains { $0.tint == tint } }
        return Content(
            place: first.place, subject: subject, target: first.target,
            notes: contents.count == 1 ? first.notes : "", tint: tint ?? .white)
    }

    /// The owners in order of their first rows, then the observers without an owner. Owners of one
    /// type with equal boxes are one group.
    private var groups: [Group] {
        let contents = contents
        var owners = Instances()
        let names = rows.map { $0.owner.map { owners.name(of: $0) } }
        let byOwner = Dictionary(grouping: rows.indices) { names[$0] }
            .sorted { $0.key != nil && ($1.key == nil || $0.value[0] < $1.value[0]) }
        var groups: [Group] = []
        var known: [Likeness: (group: Int, owners: Int)] = [:]
        for (name, indices) in byOwner {
            let boxes = Audit.tallied(indices.map { contents[$0] })
            let group = Group(title: name, boxes: boxes)
            guard name != nil, let owner = rows[indices[0]].owner else {
                groups.append(group)
                continue
            }
            let type = Instances.type(of: owner) ?? owner
            let likeness = Likeness(
                type: type, contents: boxes.map(\.content), counts: boxes.map(\.count))
            if let like = known[likeness] {
                known[likeness] = (like.group, like.owners + 1)
                groups[like.group].title = "\(type) × \(like.owners + 1)"
            } else {
                known[likeness] = (groups.count, 1)
                groups.append(group)
            }
        }
        return groups
    }

    /// What like owners have in common.
    private struct Likeness: Hashable {
        let type: String
        let contents: [Content]
        let counts: [Int]
    }

    /// Each different element once, in order, with its number.
    private static func tallied(_ contents: [Content]) -> [(content: Content, count: Int)] {
        let counts = Dictionary(contents.map { ($0, 1) }, uniquingKeysWith: +)
        var seen: Set<Content> = []
        return contents.filter { seen.insert($0).inserted }.map { ($0, counts[$0, default: 1]) }
    }

    /// For each row a line for the name, one for the sender, if any, and one for the center, if
    /// there are several; none for the work of an owner, which observes nothing.
    private var subjects: [[String]] {
        var senders = Instances()
        let isOneCenter = isOneCenter
        return rows.map { row in
            if row.work != nil { return [] }
            return [describeName(row.name)]
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

        /// The type in a description by type and address.
        static func type(of description: String) -> String? {
            description.range(of: " 0x", options: .backwards).map {
                String(description[..<$0.lowerBound])
            }
        }

        mutating func name(of description: String) -> String {
            if let known = names[description] { return known }
            guard let type = Instances.type(of: description) else { return description }
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
