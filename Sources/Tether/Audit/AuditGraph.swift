internal import Foundation

/// The observers of an audit as a graph: subjects on one side, targets on the other, owners around their observers.
///
/// Graphviz, Mermaid and SVG are drawn from it.
struct AuditGraph {
    /// What is to be seen at a glance.
    enum State: String, CaseIterable {
        case dropped, waiting, muted, idle

        /// The fill of an observer's box.
        var color: String {
            switch self {
            case .dropped: "#ffd0c7"
            case .waiting: "#ffe9b3"
            case .muted: "#dcdcdc"
            case .idle: "#ffffff"
            }
        }
    }

    struct Observer {
        let label: [String]
        let state: State
        let subject: Int
        let target: Int
    }

    struct Owner {
        /// `nil` for observers that their tokens hold.
        let name: String?
        var observers: [Observer] = []
    }

    /// A name, with the sender in a second line.
    private(set) var subjects: [[String]] = []
    private(set) var targets: [String] = []
    /// In the order of their first observers, those that tokens hold at the end.
    private(set) var owners: [Owner] = []

    init(_ audit: Audit) {
        var (senders, names) = (Instances(), Instances())
        let isOneCenter = Set(audit.rows.map(\.center)).count < 2
        var owned: [String: Int] = [:]
        var tokens = Owner(name: nil)
        for row in audit.rows {
            let sender = row.sender.map { ["from \(senders.name(of: $0))"] } ?? []
            let subject = [row.name?.rawValue ?? "any name"] + sender + (isOneCenter ? [] : ["on \(row.center)"])
            let observer = Observer(
                label: ["\(row.file):\(row.line)"] + (row.notes.isEmpty ? [] : [row.notes.joined(separator: ", ")]),
                state: row.state, subject: AuditGraph.index(of: subject, in: &subjects),
                target: AuditGraph.index(of: row.target, in: &targets))
            guard let owner = row.owner else {
                tokens.observers.append(observer)
                continue
            }
            if let place = owned[owner] {
                owners[place].observers.append(observer)
            } else {
                owned[owner] = owners.count
                owners.append(Owner(name: names.name(of: owner), observers: [observer]))
            }
        }
        if !tokens.observers.isEmpty { owners.append(tokens) }
    }

    private static func index<Element: Equatable>(of element: Element, in elements: inout [Element]) -> Int {
        if let known = elements.firstIndex(of: element) { return known }
        elements.append(element)
        return elements.count - 1
    }

    /// Objects by type instead of by address, with a number from the second one of a type on.
    private struct Instances {
        private var names: [String: String] = [:]
        private var counts: [String: Int] = [:]

        mutating func name(of description: String) -> String {
            if let known = names[description] { return known }
            guard let address = description.range(of: " 0x", options: .backwards) else { return description }
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
    fileprivate var state: AuditGraph.State {
        if dropped > 0 { return .dropped }
        if pending > 0 { return .waiting }
        return muteCount > 0 ? .muted : .idle
    }
}
