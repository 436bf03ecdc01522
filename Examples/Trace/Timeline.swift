import Foundation

/// A slice of time, or an event at a moment.
struct Slice {
    /// Without the address, which differs from run to run.
    let name: String
    let reason: String
    let depth: Int
    let start: Double
    var end: Double?
    /// The file and line of the observer, if the event has an observer.
    let observer: String?
}

/// The last part of a trace: one thread's slices, and the delivery that was pending meanwhile.
struct Timeline {
    private(set) var slices: [Slice] = []
    /// From its post until it is dropped.
    private(set) var waiting: Slice?

    /// Begins with the last post of a name.
    init(of events: [[String: Any]], from name: String) {
        guard let first = events.lastIndex(where: { $0["name"] as? String == "post \(name)" })
        else {
            fatalError("The trace has no post of \(name).")
        }
        var open: [Int] = []
        for event in events[first...] where event["tid"] as? Int == events[first]["tid"] as? Int {
            guard let time = event["ts"] as? Double else { continue }
            let name = (event["name"] as? String ?? "").replacing(#/ 0x[0-9a-f]+/#, with: "")
            let arguments = event["args"] as? [String: String] ?? [:]
            let reason = arguments["because"].map { ": \($0)" } ?? ""
            var slice = Slice(
                name: name, reason: reason, depth: open.count, start: time,
                observer: arguments["observer"])
            switch event["ph"] as? String {
            case "B":
                open.append(slices.count)
                slices.append(slice)
            case "E": if let last = open.popLast() { slices[last].end = time }
            case "b": waiting = slice
            case "e": waiting?.end = time
            case "i":
                slice.end = time
                slices.append(slice)
            default: break
            }
        }
    }

    /// The owner's end, and later events.
    var end: ArraySlice<Slice> {
        slices[(slices.firstIndex { $0.name.hasPrefix("end of Sidebar") } ?? 0)...]
    }
}

// MARK: The picture

extension Timeline {
    /// A row for each slice below the name of its thread, and one for the delivery below the name
    /// of its target.
    var svg: String {
        let start = slices[0].start
        let duration = (slices.compactMap(\.end).max() ?? start) - start
        let (left, width, row) = (270.0, 580.0, 24.0)
        func x(_ time: Double) -> Double { left + (time - start) / duration * width }
        let rows = slices.filter { $0.end != $0.start }
        let height = 86 + row * Double(rows.count + 3)
        var shapes: [String] = []
        let step = [1.0, 2, 5, 10, 20, 50, 100, 200, 500].first { duration / $0 <= 8 } ?? duration
        for time in stride(from: 0, through: duration, by: step) {
            shapes.append(line(x(start + time), 34, height - 12, "tick"))
            shapes.append(text("\(Int(time))", x(start + time), 26, "small", "middle"))
        }
        shapes.append(text("µs", left + width + 28, 26, "small", "middle"))
        shapes.append(text("mostly the cost of the trace", 16, 26, "small"))
        shapes.append(text("main thread", 16, 52, "head"))
        var y = 60.0
        for slice in rows {
            let (from, to) = (x(slice.start), x(slice.end ?? start + duration))
            shapes.append(text(slice.name, 28 + Double(slice.depth) * 16, y + 16))
            shapes.append(bar(from, to, y, slice.name.hasPrefix("post") ? "post" : "end"))
            y += row
        }
        y += 12
        shapes.append(
            text(waiting?.name.replacing("waiting for ", with: "") ?? "", 16, y + 16, "head"))
        y += row
        if let waiting, let end = waiting.end {
            shapes.append(text("delivery of modelDidChange", 28, y + 16))
            shapes.append(bar(x(waiting.start), x(end), y, "wait"))
            shapes.append(
                "<circle cx=\"\(short(x(end)))\" cy=\"\(short(y + 11))\" r=\"6\" class=\"drop\"/>")
            shapes.append(text("waits", x(waiting.start) + 8, y + 16, "inside"))
            shapes.append(text("dropped", x(end) + 12, y + 16))
        }
        if let owner = end.first, let time = owner.end {
            shapes.append(line(x(time), 34, height - 12, "deinit"))
            shapes.append(text("deinit begins here", x(time) - 6, height - 16, "deinit", "end"))
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 \(Int(height))" width="920" height="\(Int(height))" \
            font-family="Helvetica, Arial, sans-serif" font-size="14">
            <style>
            .page { fill: #fff } text { fill: #1f2328 } .small { fill: #59636e } .head { font-weight: bold }
            .post { fill: #6aa56a } .end { fill: #6f94cc } .wait { fill: #e3b341 } .drop { fill: #c33 }
            .inside { fill: #1f2328; font-size: 12px }
            .tick { stroke: #d5dae0 } .deinit { stroke: #c33; stroke-dasharray: 4 3 }
            text.deinit { stroke: none; fill: #c33; font-weight: bold }
            @media (prefers-color-scheme: dark) {
            .page { fill: #0d1117 } text:not(.inside) { fill: #e6edf3 } text.small { fill: #a9b4c0 } .tick { stroke: #30363d }
            .drop, text.deinit { fill: #ff7b72 } .deinit { stroke: #ff7b72 }
            }
            </style>
            <rect width="100%" height="100%" rx="8" class="page"/>
            \(shapes.joined(separator: "\n"))
            </svg>

            """
    }

    private func short(_ number: Double) -> String { String(format: "%.1f", number) }

    private func text(
        _ text: String, _ x: Double, _ y: Double, _ style: String = "", _ anchor: String = "start"
    )
        -> String
    {
        "<text x=\"\(short(x))\" y=\"\(short(y))\" class=\"\(style)\" text-anchor=\"\(anchor)\">\(text)</text>"
    }

    private func line(_ x: Double, _ top: Double, _ bottom: Double, _ style: String) -> String {
        "<line x1=\"\(short(x))\" x2=\"\(short(x))\" y1=\"\(short(top))\" y2=\"\(short(bottom))\" class=\"\(style)\"/>"
    }

    private func bar(_ from: Double, _ to: Double, _ y: Double, _ style: String) -> String {
        "<rect x=\"\(short(from))\" y=\"\(short(y + 3))\" width=\"\(short(max(to - from, 2)))\" height=\"16\" rx=\"2\" "
            + "class=\"\(style)\"/>"
    }
}
