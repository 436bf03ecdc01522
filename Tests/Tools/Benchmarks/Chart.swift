import Foundation

/// Pictures of the rows: six for README.md, and all that have a goal, against others and as they
/// grow.
///
/// Every axis begins at 0, and its bars are the shorter the better.
struct Chart {
    private var width = 860.0
    private var shapes: [String] = []
    private var height = 0.0

    /// Writes costs.svg, against-others.svg and growth.svg, each if it has rows. `origin`: the
    /// machine, the system and the date of the figures.
    static func write(_ rows: [Row], from origin: String, to folder: URL) throws {
        let growing = rows.filter { $0.goal != nil && $0.grows }
        let others = rows.filter { $0.goal != nil && !$0.grows }
        let charts = [
            ("costs", Chart(costs: rows, origin)),
            (
                "against-others",
                Chart(
                    others, "Tether's time or bytes, as a multiple of the other's", origin, upTo: 3)
            ),
            (
                "growth",
                Chart(
                    growing, "What one costs among many, as a multiple of what one costs among few",
                    origin, upTo: 6)
            ),
        ]
        for (name, chart) in charts {
            if let chart {
                try Data(chart.svg.utf8).write(to: folder.appending(path: "\(name).svg"))
            }
        }
    }

    /// The title, and below it what the bars are.
    private mutating func addHead(_ title: String, _ legend: String, _ origin: String) {
        add("\(title); shorter is better", 16, 24, "bold")
        add(legend.isEmpty ? origin : "\(origin); \(legend)", 16, 42, "small")
    }

    // MARK: Two bars

    private static let costs = [
        ("a post to one observer", "post by name, 1 observer", "Foundation"),
        ("a post that nobody observes", "post by name, 0 observers", "Foundation"),
        ("add an observer and remove it", "add + remove, 1000", "Foundation"),
        (
            "attach to an owner, and its end", "attach to an owner + the owner's end, 1000",
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

    /// The figures of the picture in words, for readers who do not see it.
    static func costsInWords(_ rows: [Row]) -> String {
        costs(among: rows).map { title, row, reference in
            "\(title.prefix(1).uppercased() + title.dropFirst()): \(nanoseconds(row.value)), "
                + "\(reference) \(nanoseconds(row.referenceValue))"
        }.joined(separator: ". ")
    }

    private static func costs(among rows: [Row]) -> [(title: String, row: Row, reference: String)] {
        costs.compactMap { title, name, reference in
            rows.first { $0.name == name && $0.unit == "ns" }.map { (title, $0, reference) }
        }
    }

    private static func nanoseconds(_ value: Double) -> String {
        Int(value.rounded()).formatted(.number.locale(Locale(identifier: "en"))) + " ns"
    }

    /// A bar for Tether and one for its reference, in nanoseconds.
    private init?(costs rows: [Row], _ origin: String) {
        let costs = Chart.costs(among: rows)
        let values = costs.flatMap { [$0.row.value, $0.row.referenceValue] }
        guard let longest = values.max() else { return nil }
        let left = 236.0
        let scale = 340 / longest
        width = 740
        addHead("Time of one call on Linux", "", origin)
        height = 62
        let top = height
        for (title, row, reference) in costs {
            add(title, left - 12, height + 24, anchor: "end")
            let bars = [("Tether", row.value), (reference, row.referenceValue)]
            for (index, (name, value)) in bars.enumerated() {
                let y = height + 18 * Double(index)
                let end = left + max(value * scale, 1.5)
                add(bar: left, end, y, index == 0 ? "ours" : "theirs")
                add(
                    Chart.nanoseconds(value), end + 7, y + 13, index == 0 ? "bold" : "", then: name)
            }
            height += 48
        }
        height -= 4
        add(line: left, top - 4, height - 8, "one")
    }

    // MARK: Ratios

    /// The top of the first bar, below the head, the keys and the axis.
    private static let firstBar = 100.0

    /// A bar for each ratio, with its range and its goal. The axis ends at the longest bar, or at
    /// `limit`, where a notch ends a longer bar.
    private init?(_ rows: [Row], _ title: String, _ origin: String, upTo limit: Double) {
        guard let longest = rows.map(\.ratio).max() else { return nil }
        let high = min(max(longest.rounded(.up), 2), limit)
        let left = 360.0
        let length = 300.0
        func x(_ ratio: Double) -> Double { left + length * min(max(ratio / high, 0), 1) }
        let top = Chart.firstBar
        let bottom = top + 22 * Double(rows.count)
        height = bottom + 12
        addHead(title, "", origin)
        let keys = [("met", "meets its goal"), ("missed", "misses it")]
        var key = 16.0
        for (style, meaning) in keys {
            add(bar: key, key + 16, 54, style)
            add(meaning, key + 22, 67, "small")
            key += 40 + 6.2 * Double(meaning.count)
        }
        add(
            "red mark: the goal; thin line: the 10th to 90th percentile of the runs", key, 67,
            "small")
        for tick in stride(from: 0, through: high, by: high > 3 ? 1 : 0.5) {
            add(line: x(tick), top - 6, bottom, "tick")
            let style = tick == 1 ? "small bold" : "small"
            add(String(format: "%g", tick), x(tick), top - 10, style, anchor: "middle")
        }
        for (index, row) in rows.enumerated() {
            let y = top + 22 * Double(index)
            add(row.name, left - 8, y + 13, "small", anchor: "end")
            let style = row.isMet ? "met" : "missed"
            if row.ratio > high {
                add(cutBar: left, left + length, y, style)
            } else {
                add(bar: left, max(x(row.ratio), left + 1), y, style)
            }
            var last = "\(String(format: "%.3g", row.ratio)) × \(row.reference)"
            if let goal = row.goal, goal > high { last += ", goal \(String(format: "%g", goal))" }
            add(last, left + length + 12, y + 13, "small")
        }
        add(line: x(1), top - 6, bottom, "one")
        for (index, row) in rows.enumerated() {
            let y = top + 22 * Double(index)
            if let goal = row.goal, goal <= high { add(line: x(goal), y, y + 16, "goal") }
            let low = x(row.ratio * (1 - row.noise))
            let end = x(row.ratio * (1 + row.noise))
            guard row.spread + row.referenceSpread > 0, end > low else { continue }
            let range = "M\(Chart.short(low)) \(Chart.short(y + 8))H\(Chart.short(end))"
            shapes.append("<path d=\"\(range)\" class=\"range\"/>")
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
        .tick { stroke: #d5dae0 } .range, .one { stroke: #1f2328; stroke-width: 1.5 } .goal { stroke: #c33; stroke-width: 2 }
        .notch { fill: none; stroke: #fff; stroke-width: 2 }
        @media (prefers-color-scheme: dark) {
        .page { fill: #0d1117 } text { fill: #e6edf3 } text.small, .small { fill: #a9b4c0 } .ours { fill: #4ba3dd } .theirs { fill: #59636e }
        .met { fill: #2e6b47 } .missed { fill: #84561b }
        .tick { stroke: #30363d } .range, .one { stroke: #e6edf3 } .notch { stroke: #0d1117 } .goal { stroke: #ff7b72 }
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

    /// A bar that is longer than the axis: its end is an arrowhead behind a notch.
    private mutating func add(cutBar from: Double, _ to: Double, _ y: Double, _ style: String) {
        add(bar: from, to - 5, y, style)
        let tip = Chart.short(to - 5)
        shapes.append("<path d=\"M\(tip) \(Chart.short(y))l8 8l-8 8z\" class=\"\(style)\"/>")
        shapes.append("<path d=\"M\(Chart.short(to - 14)) \(y)l8 8l-8 8\" class=\"notch\"/>")
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
