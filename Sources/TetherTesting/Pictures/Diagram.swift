internal import Foundation
internal import Tether

/// Boxes, some in frames, and arrows between boxes, as text for Graphviz, as text for Mermaid, and
/// as an SVG.
///
/// Boxes stand in columns, which are numbered from left to right. The boxes of the main column
/// stand one below another in the order of their numbers. No other column has frames. Each other
/// box stands beside the middle of its joined boxes, or at the next free place below. Graphviz and
/// Mermaid find places of their own.
///
/// A path has rows instead, each read from left to right: box 4 of a path stands below box 1, if a
/// row has three. Graphviz and Mermaid draw a path of several rows downwards.
///
/// Labels come from a program. Control characters and those that turn the direction of writing are
/// written as escapes, and the middle of a long label is left out, so that the columns stay narrow
/// and Graphviz takes the label. Each form escapes its own special characters. Complexity:
/// O(n log n) for n boxes and arrows.
package struct Diagram: Sendable {
    enum Shape: Sendable {
        case box, pill, cylinder
    }

    /// The fill of a box.
    enum Tint: String, Sendable, CaseIterable {
        case red, yellow, green, violet, grey, white

        var color: String { colors.light }

        fileprivate var colors: (light: String, dark: String) {
            switch self {
            case .red: ("#ffd0c7", "#6e2b25")
            case .yellow: ("#ffe9b3", "#5c4813")
            case .green: ("#e4f3e4", "#1f4027")
            case .violet: ("#f1e6f7", "#432a57")
            case .grey: ("#dcdcdc", "#3d444d")
            case .white: ("#ffffff", "#0d1117")
            }
        }
    }

    struct Box: Sendable {
        /// A name of at most 40 characters, and lines in a smaller type, of at most 48 each.
        let lines: [String]
        let shape: Shape
        let tint: Tint
        let column: Int

        init(_ lines: [String], _ shape: Shape = .box, _ tint: Tint = .white, column: Int) {
            self.lines = lines.enumerated().map { printable($1, limit: $0 == 0 ? 40 : 48) }
            self.shape = shape
            self.tint = tint
            self.column = column
        }

        /// The height in the picture.
        fileprivate var height: Int { 14 + 12 * lines.count }
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

    /// Titles of columns, meanings of tints, and the repair at the first box: in the picture only.
    var heads: [String] = []
    var legend: [(tint: Tint, meaning: String)] = []
    var repair = ""
    private(set) var boxes: [Box] = []
    private(set) var arrows: [Arrow] = []
    private(set) var frames: [Frame] = []
    let mainColumn: Int
    /// The number of boxes in a row of a path; `nil` if the diagram is no path.
    let rowLength: Int?

    init(mainColumn: Int = 0) {
        self.mainColumn = mainColumn
        rowLength = nil
    }

    init(rowLength: Int) {
        mainColumn = 0
        self.rowLength = rowLength
    }

    /// The row of a box in a path; 0 for all boxes of another diagram.
    fileprivate func row(_ box: Int) -> Int { rowLength.map { box / $0 } ?? 0 }

    private var hasRows: Bool { row(boxes.count - 1) > 0 }

    /// Adds a box, and returns its number.
    @discardableResult
    mutating func add(_ box: Box) -> Int {
        boxes.append(box)
        return boxes.count - 1
    }

    mutating func join(_ from: Int, _ to: Int, _ label: String = "") {
        arrows.append(Arrow(from: from, to: to, label: printable(label, limit: 32)))
    }

    /// Puts the boxes from `first` on into a frame.
    mutating func frame(from first: Int, _ title: String) {
        let title = printable(title, limit: 32)
        frames.append(Frame(title: title, boxes: first..<boxes.count))
    }
}

// MARK: Text

extension Diagram {
    /// The text for Graphviz.
    var graphviz: String {
        func quoted(_ lines: [String]) -> String {
            let escaped = lines.map { $0.escaped(by: ["\\": "\\\\", "\"": "\\\""]) }
            return "\"\(escaped.joined(separator: "\\n"))\""
        }
        let drawn = boxes.enumerated().map { number, box in
            let shape =
                switch box.shape {
                case .box: "box"
                case .pill: "ellipse"
                case .cylinder: "cylinder"
                }
            return
                "box\(number) [label=\(quoted(box.lines)), shape=\(shape), fillcolor=\"\(box.tint.color)\"];"
        }
        let joined = arrows.map { arrow in
            let label = arrow.label.isEmpty ? "" : " [label=\(quoted([arrow.label]))]"
            return "box\(arrow.from) -> box\(arrow.to)\(label);"
        }
        let style = [
            "rankdir=\(hasRows ? "TB" : "LR");", "graph [fontname=Helvetica];",
            "node [fontname=Helvetica, style=filled];", "edge [fontname=Helvetica];",
        ]
        let framed = framed(drawn) { number, title in
            let style =
                "label=\(quoted([title])); style=\"rounded,filled\"; fillcolor=\"\(Diagram.frameColor)\";"
            return (["subgraph cluster\(number) {", "    \(style)"], "}")
        }
        return "digraph {\n" + (style + framed + joined).map { "    \($0)\n" }.joined() + "}\n"
    }

    /// The text for Mermaid.
    var mermaid: String {
        func quoted(_ lines: [String]) -> String {
            "\"" + lines.map(\.escapedForMermaid).joined(separator: "<br/>") + "\""
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
        let framed = framed(drawn) { number, title in
            (["subgraph frame\(number) [\(quoted([title]))]"], "end")
        }
        let lines =
            tints.map { "classDef \($0) fill:\($0.color),stroke:#555,color:#000" } + framed + joined
        return "flowchart \(hasRows ? "TB" : "LR")\n" + lines.map { "    \($0)\n" }.joined()
    }

    /// A line for each box, and the lines that begin and end each frame.
    private func framed(
        _ drawn: [String],
        _ around: (_ number: Int, _ title: String) -> (begin: [String], end: String)
    ) -> [String] {
        var lines: [String] = []
        var next = 0
        for (number, frame) in frames.enumerated() {
            let (begin, end) = around(number, frame.title)
            lines += drawn[next..<frame.boxes.lowerBound]
            lines += begin
            lines += drawn[frame.boxes].map { "    " + $0 }
            lines.append(end)
            next = frame.boxes.upperBound
        }
        return lines + drawn[next...]
    }
}

extension String {
    /// The text in XML.
    fileprivate var escapedForMarkup: String { escaped(by: String.markup) }

    /// The text in a label of Mermaid, which takes `#` for the beginning of a character's number,
    /// and grave accents for those of Markdown.
    fileprivate var escapedForMermaid: String {
        escaped(by: String.markup.merging(["#": "#35;", "`": "#96;"]) { first, _ in first })
    }

    private static let markup: [Unicode.Scalar: String] = [
        "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;",
    ]

    /// The estimated width in pixels, in Helvetica or Arial of 14 pixels.
    fileprivate var estimatedWidth: Int {
        reduce(0) { width, character in
            let isWide = character.unicodeScalars.contains { $0.value >= 0x1100 }
            if isWide { return width + 15 }
            if "mwMW@%…".contains(character) { return width + 13 }
            if "fijlrtI.,:;'|! ".contains(character) { return width + 5 }
            return width + (character.isUppercase ? 11 : 8)
        }
    }

    /// Replaces scalars, and writes a space for each scalar excluded by XML.
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
    /// Whether the scalar is not excluded by XML.
    fileprivate var isText: Bool { value >= 0x20 && value & 0xFFFE != 0xFFFE }
}

// MARK: The picture

extension Diagram {
    /// The picture. Its style replaces the colors in dark mode.
    package var svg: String {
        let places = Places(self)
        var shapes = zip(heads, places.columns.indices).map { head, column in
            let inset = column == mainColumn ? places.inset : 0
            return text(head, places.columns[column].left - inset, 22, Diagram.bold)
        }
        if !repair.isEmpty {
            shapes.append(
                text(
                    "▾ \(repair)", 24, 22, "class=\"repair\" fill=\"#b3261e\" font-weight=\"bold\"")
            )
        }
        shapes += frames.map { drawn($0, places) }
        shapes += arrows.map { arrow($0, places) }
        for (box, top) in zip(boxes, places.tops) {
            let (left, width) = places.columns[box.column]
            shapes.append(drawn(box, left, top, width))
        }
        let (width, height) = places.size
        var left = 24
        for (tint, meaning) in legend {
            shapes.append(
                rectangle(left, height - 28, 14, 14, "\(tint)", tint.color, 3)
                    + text(meaning, left + 20, height - 17, Diagram.small))
            left += meaning.count * 6 + 52
        }
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
            + "viewBox=\"0 0 \(width) \(height)\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"14\">\n"
            + "<style>@media (prefers-color-scheme: dark) {\(Diagram.darkStyle)}</style>\n"
            + "<rect width=\"100%\" height=\"100%\" rx=\"8\" class=\"white\" fill=\"#ffffff\"/>\n"
            + shapes.joined(separator: "\n") + "\n</svg>\n"
    }

    fileprivate static let rowGap = 8
    fileprivate static let frameColor = "#eef3fb"
    private static let bold = "font-weight=\"bold\""
    private static let small = "class=\"small\" fill=\"#555\" font-size=\"12\""
    private static let darkStyle =
        Tint.allCases.map { " .\($0) {fill: \($0.colors.dark)}" }.joined()
        + " .frame {fill: #1c2633} text {fill: #e6edf3} .small {fill: #a9b4c0} .repair {fill: #ff9d91} "

    private func rectangle(
        _ x: Int, _ y: Int, _ width: Int, _ height: Int, _ name: String, _ fill: String,
        _ round: Int
    ) -> String {
        "<rect x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(height)\" rx=\"\(round)\" "
            + "class=\"\(name)\" fill=\"\(fill)\" stroke=\"#888\"/>"
    }

    private func text(_ text: String, _ x: Int, _ y: Int, _ style: String) -> String {
        "<text x=\"\(x)\" y=\"\(y)\" \(style)>\(text.escapedForMarkup)</text>"
    }

    private func drawn(_ box: Box, _ x: Int, _ y: Int, _ width: Int) -> String {
        let round = box.shape == .pill ? 13 : 4
        return rectangle(x, y, width, box.height, "\(box.tint)", box.tint.color, round)
            + box.lines.enumerated().map { line, words in
                text(words, x + 12, y + 17 + 13 * line, line > 0 ? Diagram.small : "")
            }.joined()
    }

    private func drawn(_ frame: Frame, _ places: Places) -> String {
        let (left, width) = places.columns[mainColumn]
        let last = frame.boxes.upperBound - 1
        let top = places.tops[frame.boxes.lowerBound] - 5
        let height = places.tops[last] + boxes[last].height + 5 - top
        let shape = rectangle(
            left - places.inset, top, width + places.inset + 5, height, "frame",
            Diagram.frameColor, 7)
        return shape
            + text(frame.title, left - places.inset + 10, top + height / 2 + 5, Diagram.bold)
    }

    private func arrow(_ arrow: Arrow, _ places: Places) -> String {
        let shape = shape(of: arrow, places)
        let color = color(of: arrow)
        var drawn =
            "<path d=\"\(shape.curve)\" fill=\"none\" stroke=\"\(color)\"/>"
            + "<path d=\"\(shape.head)\" fill=\"\(color)\"/>"
        if !arrow.label.isEmpty {
            drawn += text(
                arrow.label, shape.labelX, shape.labelY,
                "text-anchor=\"middle\" font-size=\"12\"")
        }
        return drawn
    }

    private func color(of arrow: Arrow) -> String {
        if boxes[arrow.from].shape == .pill { return "#5a9a5a" }
        return boxes[arrow.to].shape == .cylinder ? "#9a6fb5" : "#888"
    }

    /// The paths of an arrow's curve and head, and the middle of its label.
    private struct ArrowShape {
        let curve: String
        let head: String
        let labelX: Int
        let labelY: Int
    }

    /// Leads from the right side of a box to the left side of a box of a later column, from a row to
    /// the next one, to an earlier row on the left of all boxes, and below both to any other box.
    private func shape(of arrow: Arrow, _ places: Places) -> ArrowShape {
        if row(arrow.to) == row(arrow.from) + 1 { return shapeToNextRow(of: arrow, places) }
        if row(arrow.to) < row(arrow.from) { return shapeToEarlierRow(of: arrow, places) }
        let isForward =
            places.columns[boxes[arrow.from].column].left
            < places.columns[boxes[arrow.to].column].left
        return isForward ? forwardShape(of: arrow, places) : shapeBelow(of: arrow, places)
    }

    private func shapeToNextRow(of arrow: Arrow, _ places: Places) -> ArrowShape {
        let fromColumn = places.columns[boxes[arrow.from].column]
        let toColumn = places.columns[boxes[arrow.to].column]
        let x = fromColumn.left + fromColumn.width / 2
        let y = places.tops[arrow.from] + boxes[arrow.from].height
        let toX = toColumn.left + toColumn.width / 2
        let toY = places.tops[arrow.to]
        let middle = toY - 18
        return ArrowShape(
            curve: "M\(x) \(y) V\(middle) H\(toX) V\(toY - 6)", head: "M\(toX) \(toY) l-4 -8 h8 z",
            labelX: (x + toX) / 2, labelY: middle - 6)
    }

    private func shapeToEarlierRow(of arrow: Arrow, _ places: Places) -> ArrowShape {
        let fromColumn = places.columns[boxes[arrow.from].column]
        let toLeft = places.columns[boxes[arrow.to].column].left
        let x = fromColumn.left + fromColumn.width / 2
        let y = places.tops[arrow.from] + boxes[arrow.from].height
        let toY = places.tops[arrow.to] + boxes[arrow.to].height / 2
        let lowest = y + 16
        return ArrowShape(
            curve: "M\(x) \(y) V\(lowest) H10 V\(toY) H\(toLeft - 6)",
            head: "M\(toLeft) \(toY) l-8 -4 v8 z",
            labelX: (toLeft + fromColumn.left + fromColumn.width) / 2, labelY: lowest + 16)
    }

    private func forwardShape(of arrow: Arrow, _ places: Places) -> ArrowShape {
        let fromColumn = places.columns[boxes[arrow.from].column]
        let toColumn = places.columns[boxes[arrow.to].column]
        let inset = boxes[arrow.to].column == mainColumn ? places.inset : 0
        let x = fromColumn.left + fromColumn.width
        let y = places.tops[arrow.from] + boxes[arrow.from].height / 2
        let toX = toColumn.left - inset
        let toY = places.tops[arrow.to] + boxes[arrow.to].height / 2
        let middle = (x + toX) / 2
        // A curve ends where the frames begin. To a box without a frame, a straight line goes on.
        let isFramed = places.framed.contains(arrow.to)
        let end = isFramed ? toX : toColumn.left
        var curve = "M\(x) \(y) C\(middle) \(y) \(middle) \(toY) \(toX - 6) \(toY)"
        if end != toX {
            curve += " H\(end - 6)"
        }
        return ArrowShape(
            curve: curve, head: "M\(end) \(toY) l-8 -4 v8 z", labelX: middle,
            labelY: (y + toY) / 2 - 6)
    }

    private func shapeBelow(of arrow: Arrow, _ places: Places) -> ArrowShape {
        let fromColumn = places.columns[boxes[arrow.from].column]
        let toColumn = places.columns[boxes[arrow.to].column]
        let x = fromColumn.left + fromColumn.width / 2 + 16
        let y = places.tops[arrow.from] + boxes[arrow.from].height
        let toX = toColumn.left + toColumn.width / 2 - 16
        let toY = places.tops[arrow.to] + boxes[arrow.to].height
        let lowest = max(y, toY) + 44
        return ArrowShape(
            curve: "M\(x) \(y) C\(x) \(lowest) \(toX) \(lowest) \(toX) \(toY + 6)",
            head: "M\(toX) \(toY) l-4 8 h8 z", labelX: (x + toX) / 2, labelY: lowest + 3)
    }
}

/// The places of the boxes in the picture.
private struct Places {
    /// The left side and the width of the boxes of each column.
    private(set) var columns: [(left: Int, width: Int)] = []
    private(set) var tops: [Int]
    /// The width of the frames' titles, on the left of the main column's boxes.
    let inset: Int
    /// The boxes in frames.
    let framed: Set<Int>
    private(set) var size = (width: 0, height: 0)

    init(_ diagram: Diagram) {
        let boxes = diagram.boxes
        let last = boxes.map(\.column).reduce(diagram.mainColumn, max)
        framed = Set(diagram.frames.flatMap(\.boxes))
        inset = diagram.frames.map { $0.title.estimatedWidth + 22 }.max() ?? 0
        var left = 24
        for column in 0...last {
            // All lines but the first are in a smaller type.
            let lines = boxes.filter { $0.column == column }.flatMap { box in
                box.lines.enumerated().map { $1.estimatedWidth * ($0 == 0 ? 8 : 7) / 8 }
            }
            let labels = diagram.arrows.filter { boxes[$0.from].column == column }
                .map { $0.label.estimatedWidth * 7 / 8 }
            if column == diagram.mainColumn { left += inset }
            columns.append((left, lines.reduce(0, max) + 24))
            left += columns[column].width + max(70, labels.reduce(0, max) + 40)
        }
        tops = boxes.map { _ in 0 }
        let first = diagram.heads.isEmpty && diagram.repair.isEmpty ? 24 : 40
        if let length = diagram.rowLength {
            placeRows(of: boxes, length, below: first)
        } else {
            placeColumns(of: diagram, last, below: first)
        }
        // Below the boxes, arrows lead back, and the legend stands.
        let bottom = zip(tops, boxes).map { $0 + $1.height }.max() ?? first
        let leadsBack = diagram.arrows.contains { arrow in
            boxes[arrow.from].column >= boxes[arrow.to].column
                && diagram.row(arrow.to) <= diagram.row(arrow.from)
        }
        let right = columns.map { $0.left + $0.width }.max() ?? 0
        let legend = diagram.legend.reduce(0) { $0 + $1.meaning.count * 6 + 52 }
        size = (
            max(right, 24 + diagram.repair.count * 8, legend) + 24,
            bottom + (leadsBack ? 56 : 20) + (legend > 0 ? 26 : 0)
        )
    }

    /// The space between two rows, with an arrow and its label.
    private static let spaceOfRows = 52

    private mutating func placeRows(of boxes: [Diagram.Box], _ length: Int, below first: Int) {
        var top = first
        for start in stride(from: 0, to: boxes.count, by: length) {
            let row = start..<min(start + length, boxes.count)
            let height = boxes[row].map(\.height).max() ?? 0
            for number in row { tops[number] = top + (height - boxes[number].height) / 2 }
            top += height + Places.spaceOfRows
        }
    }

    private mutating func placeColumns(of diagram: Diagram, _ last: Int, below first: Int) {
        let boxes = diagram.boxes
        var top = first
        var placed: Set<Int> = []
        let begins = Set(diagram.frames.map(\.boxes.lowerBound))
        for number in boxes.indices where boxes[number].column == diagram.mainColumn {
            if begins.contains(number) { top += 6 }
            tops[number] = top
            placed.insert(number)
            top += boxes[number].height + Diagram.rowGap
        }
        var joined = boxes.map { _ in [Int]() }
        for arrow in diagram.arrows {
            joined[arrow.from].append(arrow.to)
            joined[arrow.to].append(arrow.from)
        }
        for column in (0...last).sorted(by: {
            abs($0 - diagram.mainColumn) < abs($1 - diagram.mainColumn)
        }) {
            let numbers = boxes.indices.filter {
                boxes[$0].column == column && !placed.contains($0)
            }
            spread(numbers, of: boxes, below: first, joined, &placed)
        }
    }

    /// Puts each box beside the middle of its joined boxes, or below the last box placed in the
    /// column.
    private mutating func spread(
        _ numbers: [Int], of boxes: [Diagram.Box], below first: Int, _ joined: [[Int]],
        _ placed: inout Set<Int>
    ) {
        let wishes = numbers.map { number in
            let beside = joined[number].filter(placed.contains).map {
                tops[$0] + boxes[$0].height / 2
            }
            return beside.reduce(0, +) / max(1, beside.count) - boxes[number].height / 2
        }
        var free = first
        for index in wishes.indices.sorted(by: { wishes[$0] < wishes[$1] }) {
            tops[numbers[index]] = max(wishes[index], free)
            free = tops[numbers[index]] + boxes[numbers[index]].height + Diagram.rowGap
            placed.insert(numbers[index])
        }
    }
}
