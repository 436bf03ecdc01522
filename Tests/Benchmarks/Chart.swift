import Foundation

/// The rows that have a goal as a picture: a bar for each ratio on a logarithmic scale, with its range and its goal.
struct Chart {
    let svg: String

    init(_ rows: [Row]) {
        let rows = rows.filter { $0.goal != nil }
        let (left, right, line, top) = (390.0, 250.0, 22.0, 66.0)
        let (low, high, width) = (0.005, 4.0, 420.0)
        func x(_ ratio: Double) -> Double {
            (left + width * log(min(max(ratio, low), high) / low) / log(high / low)).rounded()
        }
        let height = top + line * Double(rows.count) + 20
        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(left + width + right)) \(Int(height))" \
            font-family="sans-serif" font-size="12">
            <rect width="100%" height="100%" fill="white"/>
            <text x="10" y="20" font-weight="bold">Tether's time or bytes, as a part of the reference's (shorter is better)</text>
            <text x="10" y="38" fill="#555">green: meets its goal; orange: misses it; red mark: the goal; black line: the range</text>
            """
        ]
        for tick in [0.01, 0.1, 1] {
            parts.append(
                """
                <line x1="\(x(tick))" x2="\(x(tick))" y1="\(top - 8)" y2="\(height - 12)" stroke="#bbb"/>
                <text x="\(x(tick))" y="\(top - 10)" text-anchor="middle" fill="#555">\(String(format: "%g", tick))</text>
                """)
        }
        for (index, row) in rows.enumerated() {
            let y = top + line * Double(index)
            let color = row.goal == nil ? "#8da0b6" : row.isMet ? "#3a8f5c" : "#d08a2e"
            parts.append(
                """
                <text x="\(left - 8)" y="\(y + 14)" text-anchor="end">\(Chart.escaped(row.name))</text>
                <rect x="\(left)" y="\(y + 3)" width="\(x(row.ratio) - left)" height="14" fill="\(color)"/>
                <line x1="\(x(row.ratio * (1 - row.noise)))" x2="\(x(row.ratio * (1 + row.noise)))" \
                y1="\(y + 10)" y2="\(y + 10)" stroke="black" stroke-width="1.5"/>
                <text x="\(left + width + 8)" y="\(y + 14)">\(String(format: "%.3g", row.ratio)) × \
                \(Chart.escaped(row.reference))</text>
                """)
            if let goal = row.goal {
                parts.append(
                    "<line x1=\"\(x(goal))\" x2=\"\(x(goal))\" y1=\"\(y + 1)\" y2=\"\(y + 19)\" stroke=\"#c00\" stroke-width=\"2\"/>"
                )
            }
        }
        svg = (parts + ["</svg>\n"]).joined(separator: "\n")
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}
