internal import Foundation

/// Boxes, some in frames, and arrows between boxes, as text for Graphviz, as text for Mermaid, and as an SVG.
///
/// Boxes stand in columns, which are numbered from left to right. The boxes of the main column stand one below another
/// in the order of their numbers. No other column has frames. Each other box stands beside the middle of its joined
/// boxes, or at the next free place below. Graphviz and Mermaid find places of their own.
///
/// Labels come from a program, so each form escapes the labels, and writes a space for each control character.
/// Complexity: O(n log n) for n boxes and arrows.
package struct Diagram: Sendable {
    enum Shape: Sendable {
        case box, pill, cylinder
    }

    /// The fill of a box.
    enum Tint: String, Sendable, CaseIterable {
        case red, yellow, green, violet, grey, white

        var color: String {
            switch self {
            case .red: "#ffd0c7"
            case .yellow: "#ffe9b3"
            case .green: "#e4f3e4"
            case .violet: "#f1e6f7"
            case .grey: "#dcdcdc"
            case .white: "#ffffff"
            }
        }
    }

    struct Box: Sendable {
        /// A name, and up to two lines in a smaller type.
        let lines: [String]
        let shape: Shape
        let tint: Tint
        let column: Int

        init(_ lines: [String], _ shape: Shape = .box, _ tint: Tint = .white, column: Int) {
            (self.lines, self.shape, self.tint, self.column) = (lines, shape, tint, column)
        }
    }

    /// An arrow between two boxes, by number.
    struct Arrow: Sendable {
        let from: Int
        let to: Int
        let label: String
    }

    struct Frame {
        let title: String
        /// Boxes of the main column, by their numbers.
        let boxes: Range<Int>
    }

    /// Whether the diagram shows a path from the place of the repair to the object left behind.
    package var hasPath: Bool { boxes.first?.tint == .red && !arrows.isEmpty }

    private(set) var boxes: [Box] = []
    private(set) var arrows: [Arrow] = []
    private(set) var frames: [Frame] = []
    let mainColumn: Int

    init(mainColumn: Int = 0) {
        self.mainColumn = mainColumn
    }

    /// Adds a box, and returns its number.
    @discardableResult
    mutating func add(_ box: Box) -> Int {
        boxes.append(box)
        return boxes.count - 1
    }

    mutating func join(_ from: Int, _ to: Int, _ label: String = "") {
        arrows.append(Arrow(from: from, to: to, label: label))
    }

    /// Puts the boxes from `first` on into a frame.
    mutating func frame(from first: Int, _ title: String) {
        frames.append(Frame(title: title, boxes: first..<boxes.count))
    }
}

// MARK: Text

extension Diagram {
    /// The text for Graphviz.
    var graphviz: String {
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

    /// The text for Mermaid.
    var mermaid: String {
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

    /// A line for each box, and the lines that begin and end each frame.
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
    /// The text in XML.
    fileprivate var escapedForMarkup: String { escaped(by: ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"]) }

    /// Replaces scalars, and writes a space for each control character and each scalar excluded by XML.
    ///
    /// Characters would not do: a quotation mark with a combining mark is another character.
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
    /// Whether the scalar is neither a control character nor excluded by XML.
    fileprivate var isText: Bool { properties.generalCategory != .control && value & 0xFFFE != 0xFFFE }
}

// MARK: The picture

extension Diagram {
    /// The picture.
    package var svg: String {
        let places = Places(self)
        var shapes: [String] = []
        for frame in frames {
            let (left, width) = places.columns[mainColumn]
            let (top, end) = (places.tops[frame.boxes.lowerBound] - 30, places.tops[frame.boxes.upperBound - 1])
            shapes.append(
                rectangle(left - 14, top, width + 28, end + Diagram.rowHeight - top, Diagram.frameColor, round: 8)
                    + text(frame.title, left - 4, top + 20, "font-weight=\"bold\""))
        }
        shapes += arrows.map { arrow($0, places) }
        for (box, top) in zip(boxes, places.tops) {
            let (left, width) = places.columns[box.column]
            shapes.append(drawn(box, left, top, width))
        }
        let (width, height) = places.size
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
            + "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n"
            + "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"white\"/>\n" + shapes.joined(separator: "\n")
            + "\n</svg>\n"
    }

    fileprivate static let (boxHeight, rowHeight) = (38, 50)
    fileprivate static let frameColor = "#eef3fb"

    private func rectangle(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ fill: String, round: Int) -> String {
        "<rect x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(height)\" rx=\"\(round)\" fill=\"\(fill)\" "
            + "stroke=\"#777\"/>"
    }

    private func text(_ text: String, _ x: Int, _ y: Int, _ style: String = "") -> String {
        "<text x=\"\(x)\" y=\"\(y)\" \(style)>\(text.escapedForMarkup)</text>"
    }

    private func drawn(_ box: Box, _ x: Int, _ y: Int, _ width: Int) -> String {
        let (first, step) = box.lines.count == 1 ? (23, 0) : box.lines.count == 2 ? (16, 15) : (12, 11)
        return rectangle(x, y, width, Diagram.boxHeight, box.tint.color, round: box.shape == .pill ? 18 : 4)
            + box.lines.enumerated().map { line, words in
                text(words, x + 12, y + first + step * line, line > 0 ? "fill=\"#555\" font-size=\"11\"" : "")
            }.joined()
    }

    /// Leads from the right side of a box to the left side of a box of a later column, and below both to any other box.
    private func arrow(_ arrow: Arrow, _ places: Places) -> String {
        let (from, to) = (places.columns[boxes[arrow.from].column], places.columns[boxes[arrow.to].column])
        let isForward = from.left < to.left
        let (x, toX) =
            isForward
            ? (from.left + from.width, to.left) : (from.left + from.width / 2 + 16, to.left + to.width / 2 - 16)
        let edge = isForward ? Diagram.boxHeight / 2 : Diagram.boxHeight
        let (y, toY) = (places.tops[arrow.from] + edge, places.tops[arrow.to] + edge)
        let middle = isForward ? (x + toX) / 2 : max(y, toY) + 44
        let curve =
            isForward
            ? "C\(middle) \(y) \(middle) \(toY) \(toX - 6) \(toY)"
            : "C\(x) \(middle) \(toX) \(middle) \(toX) \(toY + 6)"
        let (labelX, labelY) = ((x + toX) / 2, isForward ? (y + toY) / 2 - 6 : middle + 3)
        return "<path d=\"M\(x) \(y) \(curve)\" fill=\"none\" stroke=\"#777\"/>"
            + "<path d=\"M\(toX) \(toY) \(isForward ? "l-8 -4 v8 z" : "l-4 8 h8 z")\" fill=\"#777\"/>"
            + (arrow.label.isEmpty ? "" : text(arrow.label, labelX, labelY, "text-anchor=\"middle\" font-size=\"11\""))
    }
}

/// The places of the boxes in the picture.
private struct Places {
    let columns: [(left: Int, width: Int)]
    private(set) var tops: [Int]
    /// The height below the last row, where arrows lead back.
    private let foot: Int

    init(_ diagram: Diagram) {
        let boxes = diagram.boxes
        let last = boxes.map(\.column).reduce(diagram.mainColumn, max)
        var (columns, left) = ([(left: Int, width: Int)](), 24)
        for column in 0...last {
            // All lines but the first are in a smaller type.
            let lines = boxes.filter { $0.column == column }.flatMap { box in
                box.lines.enumerated().map { ($0 == 0 ? 8 : 7) * $1.count }
            }
            let labels = diagram.arrows.filter { boxes[$0.from].column == column }.map(\.label.count)
            columns.append((left, lines.reduce(0, max) + 24))
            left += columns[column].width + max(90, labels.reduce(0, max) * 6 + 40)
        }
        self.columns = columns
        foot = diagram.arrows.contains { boxes[$0.from].column >= boxes[$0.to].column } ? 54 : 14
        tops = boxes.map { _ in 0 }
        var (top, placed) = (24, Set<Int>())
        let begins = Set(diagram.frames.map(\.boxes.lowerBound))
        let ends = Set(diagram.frames.map(\.boxes.upperBound))
        for number in boxes.indices where boxes[number].column == diagram.mainColumn {
            if begins.contains(number) { top += 30 }
            tops[number] = top
            placed.insert(number)
            top += Diagram.rowHeight
            if ends.contains(number + 1) { top += 18 }
        }
        var joined = boxes.map { _ in [Int]() }
        for arrow in diagram.arrows {
            joined[arrow.from].append(arrow.to)
            joined[arrow.to].append(arrow.from)
        }
        for column in (0...last).sorted(by: { abs($0 - diagram.mainColumn) < abs($1 - diagram.mainColumn) }) {
            spread(boxes.indices.filter { boxes[$0].column == column && !placed.contains($0) }, joined, &placed)
        }
    }

    /// Puts each box beside the middle of its joined boxes, or below the last box placed in the column.
    private mutating func spread(_ numbers: [Int], _ joined: [[Int]], _ placed: inout Set<Int>) {
        let wishes = numbers.map { number in
            let beside = joined[number].filter(placed.contains).map { tops[$0] }
            return beside.reduce(0, +) / max(1, beside.count)
        }
        var free = 0
        for index in wishes.indices.sorted(by: { wishes[$0] < wishes[$1] }) {
            tops[numbers[index]] = max(wishes[index], free)
            free = tops[numbers[index]] + Diagram.rowHeight
            placed.insert(numbers[index])
        }
    }

    var size: (width: Int, height: Int) {
        (columns.reduce(0) { max($0, $1.left + $1.width) } + 24, tops.reduce(0, max) + Diagram.rowHeight + foot)
    }
}
