internal import Foundation

extension Diagram {
    /// For Graphviz.
    package var graphviz: String {
        func quoted(_ lines: [String]) -> String {
            let escaped = lines.map { $0.escaped(by: ["\\": "\\\\", "\"": "\\\"", "\n": "\\n"]) }
            return "\"\(escaped.joined(separator: "\\n"))\""
        }
        let drawn = boxes.enumerated().map { number, box in
            let shape =
                switch box.shape {
                case .box: "box"
                case .pill: "ellipse"
                case .cylinder: "cylinder"
                }
            return "box\(number) [label=\(quoted(box.lines)), shape=\(shape), fillcolor=\"\(box.tint.color)\"];"
        }
        let joined = arrows.map { arrow in
            let label = arrow.label.isEmpty ? "" : " [label=\(quoted([arrow.label]))]"
            return "box\(arrow.from) -> box\(arrow.to)\(label);"
        }
        let style = ["rankdir=LR;", "node [fontname=Helvetica, style=filled];", "edge [fontname=Helvetica];"]
        let framed = framed(drawn) { number, title in
            let style = "label=\(quoted([title])); style=\"rounded,filled\"; fillcolor=\"\(Diagram.frameColor)\";"
            return (["subgraph cluster\(number) {", "    \(style)"], "}")
        }
        return "digraph {\n" + (style + framed + joined).map { "    \($0)\n" }.joined() + "}\n"
    }

    /// For Mermaid.
    package var mermaid: String {
        func quoted(_ lines: [String]) -> String {
            "\"" + lines.map(\.escapedForMarkup).joined(separator: "<br/>") + "\""
        }
        let tints = Tint.allCases.filter(Set(boxes.map(\.tint)).contains)
        let drawn = boxes.enumerated().map { number, box in
            let (begin, end) =
                switch box.shape {
                case .box: ("[", "]")
                case .pill: ("([", "])")
                case .cylinder: ("[(", ")]")
                }
            return "box\(number)\(begin)\(quoted(box.lines))\(end):::\(box.tint)"
        }
        let joined = arrows.map { arrow in
            "box\(arrow.from) -->\(arrow.label.isEmpty ? "" : "|\(quoted([arrow.label]))|") box\(arrow.to)"
        }
        let framed = framed(drawn) { number, title in (["subgraph frame\(number) [\(quoted([title]))]"], "end") }
        let lines = tints.map { "classDef \($0) fill:\($0.color),stroke:#555,color:#000" } + framed + joined
        return "flowchart LR\n" + lines.map { "    \($0)\n" }.joined()
    }

    /// The boxes, each in a line, within the lines around their frames.
    private func framed(
        _ drawn: [String], _ around: (_ number: Int, _ title: String) -> (begin: [String], end: String)
    ) -> [String] {
        var (lines, next) = ([String](), 0)
        for (number, frame) in frames.enumerated() {
            let (begin, end) = around(number, frame.title)
            lines += drawn[next..<frame.boxes.lowerBound] + begin + drawn[frame.boxes].map { "    " + $0 } + [end]
            next = frame.boxes.upperBound
        }
        return lines + drawn[next...]
    }
}

extension String {
    /// The text as XML has it.
    var escapedForMarkup: String { escaped(by: ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"]) }

    /// The text with some scalars written in another way, and with spaces for what is no text. By scalars, because one that
    /// is followed by a mark is another character.
    fileprivate func escaped(by escapes: [Unicode.Scalar: String]) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if let escape = escapes[scalar] {
                escaped.append(contentsOf: escape.unicodeScalars)
            } else {
                escaped.append(scalar.isText ? scalar : " ")
            }
        }
        return String(escaped)
    }
}

extension Unicode.Scalar {
    /// Whether it is neither a control character nor one that XML excludes.
    fileprivate var isText: Bool { properties.generalCategory != .control && value & 0xFFFE != 0xFFFE }
}
