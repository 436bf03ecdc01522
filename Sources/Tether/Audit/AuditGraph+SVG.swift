internal import Foundation

extension AuditGraph {
    /// A picture: three columns, one of subjects, one of observers in the boxes of their owners, one of targets.
    var svg: String {
        let boxes = owners.flatMap(\.observers)
        let widths = [
            AuditGraph.width(of: subjects.flatMap(\.self)), AuditGraph.width(of: boxes.flatMap(\.label)),
            AuditGraph.width(of: targets),
        ]
        let lefts = [24, 24 + widths[0] + 90, 24 + widths[0] + 90 + widths[1] + 90]
        var (places, frames, top): ([Int], [String], Int) = ([], [], 24)
        for owner in owners {
            let begin = top
            if owner.name != nil { top += 30 }
            for _ in owner.observers {
                places.append(top)
                top += AuditGraph.rowHeight
            }
            guard let name = owner.name else { continue }
            frames.append(
                box(lefts[1] - 14, begin, widths[1] + 28, top - begin, "#eef3fb")
                    + text(name, lefts[1] - 4, begin + 20, "font-weight=\"bold\""))
            top += 18
        }
        let subjectTops = AuditGraph.spread(
            subjects.indices.map { subject in boxes.indices.filter { boxes[$0].subject == subject }.map { places[$0] } }
        )
        let targetTops = AuditGraph.spread(
            targets.indices.map { target in boxes.indices.filter { boxes[$0].target == target }.map { places[$0] } })
        var shapes = frames
        for (index, observer) in boxes.enumerated() {
            shapes.append(arrow(lefts[0] + widths[0], subjectTops[observer.subject], lefts[1], places[index]))
            shapes.append(arrow(lefts[1] + widths[1], places[index], lefts[2], targetTops[observer.target]))
            shapes.append(labelled(observer.label, lefts[1], places[index], widths[1], observer.state.color, round: 4))
        }
        for (index, subject) in subjects.enumerated() {
            shapes.append(labelled(subject, lefts[0], subjectTops[index], widths[0], "#e4f3e4", round: 18))
        }
        for (index, target) in targets.enumerated() {
            shapes.append(labelled([target], lefts[2], targetTops[index], widths[2], "#f1e6f7", round: 4))
        }
        let height = (places + subjectTops + targetTops).reduce(0, max) + AuditGraph.rowHeight + 14
        let width = lefts[2] + widths[2] + 24
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
            + "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n"
            + "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" + shapes.joined(separator: "\n") + "\n</svg>\n"
    }

    private static let (boxHeight, rowHeight) = (38, 50)

    /// What the longest line takes, with room around it.
    private static func width(of lines: [String]) -> Int { (lines.map(\.count).max() ?? 0) * 8 + 24 }

    /// A place for each of some boxes, beside the middle of those that it is joined with, and none over another.
    private static func spread(_ joined: [[Int]]) -> [Int] {
        let wishes = joined.map { $0.reduce(0, +) / max(1, $0.count) }
        var (places, free) = (wishes, 0)
        for index in wishes.indices.sorted(by: { wishes[$0] < wishes[$1] }) {
            places[index] = max(wishes[index], free)
            free = places[index] + rowHeight
        }
        return places
    }

    private func box(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ fill: String, round: Int = 8) -> String {
        "<rect x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(height)\" rx=\"\(round)\" fill=\"\(fill)\" "
            + "stroke=\"#777\"/>"
    }

    private func text(_ text: String, _ x: Int, _ y: Int, _ style: String = "") -> String {
        "<text x=\"\(x)\" y=\"\(y)\" \(style)>\(text.escapedForMarkup)</text>"
    }

    private func labelled(_ lines: [String], _ x: Int, _ y: Int, _ width: Int, _ fill: String, round: Int) -> String {
        let first = y + (lines.count == 1 ? 23 : lines.count == 2 ? 16 : 11)
        return box(x, y, width, AuditGraph.boxHeight, fill, round: round)
            + lines.enumerated().map {
                text($1, x + 12, first + 15 * $0, $0 > 0 ? "fill=\"#555\" font-size=\"11\"" : "")
            }.joined()
    }

    /// From the right side of one box to the left side of another.
    private func arrow(_ x: Int, _ y: Int, _ toX: Int, _ toY: Int) -> String {
        let (begin, end, middle) = (y + AuditGraph.boxHeight / 2, toY + AuditGraph.boxHeight / 2, (x + toX) / 2)
        return
            "<path d=\"M\(x) \(begin) C\(middle) \(begin) \(middle) \(end) \(toX - 6) \(end)\" fill=\"none\" stroke=\"#777\"/>"
            + "<path d=\"M\(toX) \(end) l-8 -4 v8 z\" fill=\"#777\"/>"
    }
}
