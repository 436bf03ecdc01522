// Watching a program: a sidebar's life and end, as a trace tells them.
//
// Two observers are attached to a sidebar, one of them on a queue. Then the sidebar goes while a delivery still waits for it:
// both observers end, with what waits and what their handlers captured, before its `deinit` begins.
//
//     Trace [FOLDER]
//
// FOLDER gets trace.json, for https://ui.perfetto.dev, and owner-end.svg, which is drawn here from what the trace says of
// the end. It is the folder for temporary files if it is left out.
//
// Prints: 2 deliveries waited, 1 was made
// Prints: end of Sidebar
// Prints:     end of observer modelDidChange: its owner ends
// Prints:         dropped modelDidChange: its observer ends
// Prints:     end of observer modelDidClose: its owner ends

import Foundation
import Tether

extension Notification.Name {
    static let modelDidChange = Notification.Name("modelDidChange")
    static let modelDidClose = Notification.Name("modelDidClose")
    static let draftDidGo = Notification.Name("draftDidGo")
    static let sidebarDidGo = Notification.Name("sidebarDidGo")
}

/// What a handler captures, and its observer's end releases.
final class Draft: Sendable {
    let center: ObserverCenter

    init(center: ObserverCenter) { self.center = center }

    func update() {}

    deinit { center.post(name: .draftDidGo, object: nil) }
}

final class Sidebar: Sendable {
    let center: ObserverCenter

    init(center: ObserverCenter, index: DispatchQueue) {
        self.center = center
        let draft = Draft(center: center)
        center.observe(.modelDidChange, owner: self, on: .dispatchQueue(index)) { _, _ in draft.update() }
        center.observe(.modelDidClose, owner: self) { _, _ in }
    }

    deinit { center.post(name: .sidebarDidGo, object: nil) }
}

/// The sidebar's life. It ends when this returns, at the latest.
@inline(never)
func live(center: ObserverCenter, index: DispatchQueue) {
    let sidebar = Sidebar(center: center, index: index)
    center.post(name: .modelDidChange, object: nil)
    index.sync {}
    index.suspend()
    center.post(name: .modelDidChange, object: nil)
    center.post(name: .modelDidClose, object: nil)
    withExtendedLifetime(sidebar) {}
}

/// Something that took time, or happened at a moment, on one thread.
struct Slice {
    var name: String
    let depth: Int
    let start: Double
    var end: Double?

    var isMoment: Bool { end == start }
    /// Without the address, which differs from run to run.
    var title: String { String(name.prefix(upTo: name.range(of: " 0x")?.lowerBound ?? name.endIndex)) }
}

/// What happened on the thread where an owner ended, from then on.
func slices(of events: [[String: Any]]) -> [Slice] {
    guard let first = events.firstIndex(where: { ($0["name"] as? String)?.hasPrefix("end of Sidebar") == true }) else {
        fatalError("The trace has no end of an owner.")
    }
    var (slices, open) = ([Slice](), [Int]())
    for event in events[first...] where event["tid"] as? Int == events[first]["tid"] as? Int {
        guard let time = event["ts"] as? Double, let name = event["name"] as? String ?? "" as String? else { continue }
        let reason = (event["args"] as? [String: Any])?["because"].map { ": \($0)" } ?? ""
        switch event["ph"] as? String {
        case "B":
            open.append(slices.count)
            slices.append(Slice(name: name + reason, depth: open.count - 1, start: time))
        case "E": if let last = open.popLast() { slices[last].end = time }
        case "i" where event["s"] as? String == "t":
            slices.append(Slice(name: name + reason, depth: open.count, start: time, end: time))
        default: break
        }
    }
    return slices
}

/// A row for each slice, below its beginning.
func picture(of slices: [Slice]) -> String {
    let (left, width, row) = (420.0, 420.0, 26.0)
    let (start, end) = (slices[0].start, slices.compactMap(\.end).max() ?? slices[0].start)
    func x(_ time: Double) -> Double { left + (time - start) / (end - start) * width }
    func short(_ number: Double) -> String { String(format: "%.1f", number) }
    var shapes: [String] = []
    for (index, slice) in slices.enumerated() {
        let (y, from, to) = (Double(index) * row + 12, x(slice.start), x(slice.end ?? end))
        shapes.append("<text x=\"\(16 + slice.depth * 18)\" y=\"\(short(y + 16))\">\(slice.title)</text>")
        if slice.isMoment {
            shapes.append("<circle cx=\"\(short(from))\" cy=\"\(short(y + 11))\" r=\"5\" fill=\"#c44\"/>")
        } else {
            shapes.append(
                "<rect x=\"\(short(from))\" y=\"\(short(y + 3))\" width=\"\(short(max(to - from, 1)))\" height=\"16\" "
                    + "fill=\"\(slice.name.hasPrefix("post") ? "#7a7" : "#79c")\"/><text x=\"\(short(to + 6))\" "
                    + "y=\"\(short(y + 16))\" fill=\"#555\">\(short((slice.end ?? end) - slice.start)) µs</text>")
        }
    }
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"920\" height=\"\(Int(Double(slices.count) * row) + 24)\" "
        + "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" "
        + "fill=\"white\"/>\n\(shapes.joined(separator: "\n"))\n</svg>\n"
}

let folder = URL(filePath: CommandLine.arguments.dropFirst().first ?? NSTemporaryDirectory())
let (file, drawing) = (folder.appending(path: "trace.json"), folder.appending(path: "owner-end.svg"))
let (center, index) = (ObserverCenter(), DispatchQueue(label: "index"))
try Trace.start(to: file)
live(center: center, index: index)
index.resume()
guard let summary = Trace.stop() else { fatalError("The trace has been stopped by someone else.") }
print(summary)

let parsed = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [[String: Any]] ?? []
let events = parsed.sorted { ($0["ts"] as? Double ?? 0) < ($1["ts"] as? Double ?? 0) }
let (sent, made) = (events.count { $0["ph"] as? String == "s" }, events.count { $0["ph"] as? String == "f" })
print("\(sent) deliveries waited, \(made) was made\n")
let ends = slices(of: events)
for slice in ends { print(String(repeating: "    ", count: slice.depth) + slice.title) }
try picture(of: ends).write(to: drawing, atomically: true, encoding: .utf8)
print("\nOpen \(file.path) in https://ui.perfetto.dev; \(drawing.path) is a picture of the end.")
