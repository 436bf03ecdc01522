internal import Foundation

extension Diagram {
    /// A picture, for where nothing draws graphs.
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

    static let (boxHeight, rowHeight) = (38, 50)
    static let frameColor = "#eef3fb"

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

    /// From the right side of one box to the left side of another; back to one that is not behind it below both.
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

/// Where the boxes of a diagram are in a picture of it.
private struct Places {
    let columns: [(left: Int, width: Int)]
    private(set) var tops: [Int]
    /// The room below the last row, which arrows that lead back take.
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

    /// Puts each of some boxes beside the middle of those that it is joined with, and none over another.
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
