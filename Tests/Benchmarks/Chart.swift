import Foundation

/// Pictures of the rows: six for README.md, and all that have a goal, against others and as they
/// grow.
struct Chart {
    private var width = 860.0
    private var shapes: [String] = []
    private var height = 0.0

    /// Writes costs.svg, against-others.svg and growth.svg, each if it has rows.
    static func write(_ rows: [Row], to folder: URL) throws {
        let (growing, others) = (
            rows.filter { $0.goal != nil && $0.grows }, rows.filter { $0.goal != nil && !$0.grows }
        )
        let charts = [
            ("costs", Chart(costs: rows)),
            (
                "against-others",
                Chart(others, "Tether's time or bytes, as a multiple of the other's", upTo: 2)
            ),
            (
                "growth",
                Chart(
                    growing, "What one costs among many, as a multiple of what one costs among few",
                    upTo: 5)
            ),
        ]
        for (name, chart) in charts {
            if let chart {
                try Data(chart.svg.utf8).write(to: folder.appending(path: "\(name).svg"))
            }
        }
    }

    // MARK: Two bars

    private static let costs = [
        ("a post to one observer", "post by name, 1 observer", "Foundation"),
        ("a post that nobody observes", "post by name, 0 observers", "Foundation"),
        ("add an observer and remove it", "add + remove, 1000", "Foundation"),
        (
            "attach to an owner, and its end", "attach to an owner + the owner's end, 0",
            "written by hand"
        ),
        (
            "a delivery to a dispatch queue", "stream to a dispatch queue, per delivery, 100000",
            "one async"
        ),
        (
            "a value of an async sequence", "1000 values through an async sequence, each, 1000",
            "AsyncStream"
        ),
    ]

    /// A bar for Tether and one for its reference, in nanoseconds.
    private init?(costs rows: [Row]) {
        let rows = Chart.costs.compactMap { title, name, reference in
            rows.first { $0.name == name && $0.unit == "ns" }.map {
                (title, $0.value, reference, $0.referenceValue)
            }
        }
        guard let longest = rows.map({ max($0.1, $0.3) }).max() else { return nil }
        let (left, scale) = (236.0, 340 / longest)
        (width, height) = (740, 16)
        for (title, value, reference, referenceValue) in rows {
            add(title, left - 12, height + 24, anchor: "end")
            for (index, (name, value)) in [("Tether", value), (reference, referenceValue)]
                .enumerated()
            {
                let (y, end) = (height + 18 * Double(index), left + max(value * scale, 1.5))
                add(bar: left, end, y, index == 0 ? "ours" : "theirs")
                let number = Int(value.rounded()).formatted(
                    .number.locale(Locale(identifier: "en")))
                add("\(number) ns", end + 7, y + 13, index == 0 ? "bold" : "", then: name)
            }
            height += 48
        }
        height -= 4
    }

    // MARK: Ratios

    /// A bar for each ratio, with its range and its goal.
    private init?(_ rows: [Row], _ title: String, upTo high: Double) {
        let (left, length) = (360.0, 300.0)
        func x(_ ratio: Double) -> Double { left + length * min(ratio / high, 1) }
        if rows.isEmpty { return nil }
        height = 64 + 22 * Double(rows.count) + 12
        add(title, 16, 24, "bold")
        add(
            "green: meets its goal; orange: misses it; red: the goal; thin: the range", 16, 42,
            "small")
        for tick in stride(from: 0, through: high, by: high > 2 ? 1 : 0.5) {
            add(line: x(tick), 58, height - 8, "tick")
            add(String(format: "%g", tick), x(tick), 56, "small", anchor: "middle")
        }
        for (index, row) in rows.enumerated() {
            let y = 64 + 22 * Double(index)
            add(row.name, left - 8, y + 13, "small", anchor: "end")
            add(bar: left, max(x(row.ratio), left + 1), y, row.isMet ? "met" : "missed")
            let range = (x(row.ratio * (1 - row.noise)), x(row.ratio * (1 + row.noise)))
            shapes.append(
                "<path d=\"M\(Chart.short(range.0)) \(y + 8)H\(Chart.short(range.1))\" class=\"range\"/>"
            )
            if let goal = row.goal { add(line: x(goal), y, y + 16, "goal") }
            add(
                String(format: "%.3g", row.ratio) + " × \(row.reference)", left + length + 8,
                y + 13, "small")
        }
    }

    // MARK: Shapes

    private var svg: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width)) \(Int(height))" width="\(Int(width))" \
        height="\(Int(height))" font-family="Helvetica, Arial, sans-serif" font-size="14">
        <style>
        .page { fill: #fff } text { fill: #1f2328 } .small { fill: #59636e; font-size: 12px } .bold { font-weight: bold }
        tspan { font-weight: normal }
        .ours { fill: #2a7fb8 } .theirs { fill: #b4bcc5 } .met { fill: #3a8f5c } .missed { fill: #d08a2e }
        .tick { stroke: #d5dae0 } .range { stroke: #1f2328; stroke-width: 1.5 } .goal { stroke: #c33; stroke-width: 2 }
        @media (prefers-color-scheme: dark) {
        .page { fill: #0d1117 } text { fill: #e6edf3 } text.small, .small { fill: #a9b4c0 } .ours { fill: #4ba3dd } .theirs { fill: #59636e }
        .tick { stroke: #30363d } .range { stroke: #e6edf3 }
        }
        </style>
        <rect width="100%" height="100%" rx="8" class="page"/>
        \(shapes.joined(separator: "\n"))
        </svg>

        """
    }

    private mutating func add(
        _ text: String, _ x: Double, _ y: Double, _ style: String = "", anchor: String = "start",
        then more: String = ""
    ) {
        var text = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        if !more.isEmpty { text += " <tspan class=\"small\" dx=\"4\">\(more)</tspan>" }
        shapes.append(
            "<text x=\"\(Chart.short(x))\" y=\"\(Chart.short(y))\" class=\"\(style)\" text-anchor=\"\(anchor)\">\(text)</text>"
        )
    }

    private mutating func add(bar from: Double, _ to: Double, _ y: Double, _ style: String) {
        shapes.append(
            "<rect x=\"\(Chart.short(from))\" y=\"\(Chart.short(y))\" width=\"\(Chart.short(to - from))\" height=\"16\" "
                + "class=\"\(style)\"/>")
    }

    private mutating func add(line x: Double, _ top: Double, _ bottom: Double, _ style: String) {
        shapes.append(
            "<path d=\"M\(Chart.short(x)) \(Chart.short(top))V\(Chart.short(bottom))\" class=\"\(style)\"/>"
        )
    }

    private static func short(_ number: Double) -> String { String(format: "%.1f", number) }
}

extension Row {
    /// Whether the reference is Tether itself, with less of something.
    fileprivate var grows: Bool {
        reference.hasPrefix("n = ") || reference.hasPrefix("k = ")
            || ["1 thread", "alone", "at first"].contains(reference)
    }
}
