internal import Foundation

extension AuditGraph {
    /// For Graphviz.
    var graphviz: String {
        func quoted(_ lines: [String]) -> String {
            let text = lines.joined(separator: "\n")
            let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\"\(escaped)\""
        }
        var lines = ["rankdir=LR;", "node [fontname=Helvetica, style=filled, fillcolor=white];"]
        lines += subjects.indices.map { "subject\($0) [label=\(quoted(subjects[$0])), shape=ellipse];" }
        lines += targets.indices.map { "target\($0) [label=\(quoted([targets[$0]])), shape=cylinder];" }
        for (number, owner) in owners.enumerated() {
            var boxes = owner.observers.enumerated().map { index, observer in
                "observer\(number)_\(index) [label=\(quoted(observer.label)), shape=box, "
                    + "fillcolor=\"\(observer.state.color)\"];"
            }
            if let name = owner.name {
                let style = "label=\(quoted([name])); style=\"rounded,filled\"; fillcolor=\"#eef3fb\";"
                boxes = ["subgraph cluster\(number) {", "    \(style)"] + boxes.map { "    " + $0 } + ["}"]
            }
            lines += boxes
            lines += owner.observers.enumerated().map { index, observer in
                "subject\(observer.subject) -> observer\(number)_\(index) -> target\(observer.target);"
            }
        }
        return "digraph observers {\n" + lines.map { "    \($0)\n" }.joined() + "}\n"
    }

    /// For Mermaid.
    var mermaid: String {
        func quoted(_ lines: [String]) -> String {
            "\"" + lines.map(\.escapedForMarkup).joined(separator: "<br/>") + "\""
        }
        var lines = State.allCases.map { "classDef \($0) fill:\($0.color),stroke:#555,color:#000" }
        lines += subjects.indices.map { "subject\($0)([\(quoted(subjects[$0]))])" }
        lines += targets.indices.map { "target\($0)[(\(quoted([targets[$0]])))]" }
        for (number, owner) in owners.enumerated() {
            var boxes = owner.observers.enumerated().map { index, observer in
                "observer\(number)_\(index)[\(quoted(observer.label))]:::\(observer.state)"
            }
            if let name = owner.name {
                boxes = ["subgraph owner\(number) [\(quoted([name]))]"] + boxes.map { "    " + $0 } + ["end"]
            }
            lines += boxes
            lines += owner.observers.enumerated().map { index, observer in
                "subject\(observer.subject) --> observer\(number)_\(index) --> target\(observer.target)"
            }
        }
        return "flowchart LR\n" + lines.map { "    \($0)\n" }.joined()
    }
}

extension String {
    /// The text as XML has it.
    var escapedForMarkup: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
