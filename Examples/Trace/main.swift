// Watching a program: a trace of a sidebar's life and end.
//
// Two observers are attached to a sidebar, one on the posting thread and one on a queue. The
// sidebar is released while a delivery is pending. Before its `deinit` begins, both observers end,
// the delivery is dropped, and the handlers' captures are released.
//
//     Trace [FOLDER]
//
// FOLDER, by default the folder for temporary files, gets two files: trace.json for
// https://ui.perfetto.dev, and owner-end.svg, a picture of the end that is drawn from the trace.
//
// Prints: 2 deliveries waited, 1 was made
// Prints: end of Sidebar
// Prints:     end of observer modelDidChange: its owner ends
// Prints:         dropped modelDidChange: its observer ends
// Prints:     post draftDidGo
// Prints:     end of observer modelDidClose: its owner ends
// Prints: post sidebarDidGo

import Foundation
import Tether

extension Notification.Name {
    static let modelDidChange = Notification.Name("modelDidChange")
    static let modelDidClose = Notification.Name("modelDidClose")
    static let draftDidGo = Notification.Name("draftDidGo")
    static let sidebarDidGo = Notification.Name("sidebarDidGo")
}

/// A handler's capture, which the end of the observer releases.
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
        center.observe(.modelDidChange, owner: self, on: .dispatchQueue(index)) { _, _ in
            draft.update()
        }
        center.observe(.modelDidClose, owner: self) { _, _ in }
    }

    deinit { center.post(name: .sidebarDidGo, object: nil) }
}

/// The sidebar's life, which ends before the function returns.
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

let folder = URL(filePath: CommandLine.arguments.dropFirst().first ?? NSTemporaryDirectory())
let (file, drawing) = (
    folder.appending(path: "trace.json"), folder.appending(path: "owner-end.svg")
)
let (center, index) = (ObserverCenter(), DispatchQueue(label: "index"))
do {
    try Trace.start(to: file)
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(EX_USAGE)
}
live(center: center, index: index)
index.resume()
guard let summary = Trace.stop() else { fatalError("The trace has been stopped by someone else.") }
print(summary)

let parsed =
    try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [[String: Any]] ?? []
let events = parsed.sorted { ($0["ts"] as? Double ?? 0) < ($1["ts"] as? Double ?? 0) }
let (sent, made) = (
    events.count { $0["ph"] as? String == "s" }, events.count { $0["ph"] as? String == "f" }
)
print("\(sent) deliveries waited, \(made) was made\n")
let timeline = Timeline(of: events, from: "modelDidChange")
for slice in timeline.end {
    print(String(repeating: "    ", count: slice.depth) + slice.name + slice.reason)
}
try timeline.svg.write(to: drawing, atomically: true, encoding: .utf8)
print("\nOpen \(file.path) in https://ui.perfetto.dev; \(drawing.path) is a picture of the end.")
