// Real events of a folder, posted once and handled on five targets.
//
// Five objects observe the same posts: on the posting thread, the main queue, a dispatch queue, an
// operation queue and a thread with a run loop. The program releases one object after the other.
// Each time its observer ends, and the other observers stay.
//
//     swift run FolderWatch [FOLDER]     watches FOLDER for a minute; without one, a new folder that it fills by itself
//
// Prints: file 1 seen on the watching thread
// Prints: file 1 seen on the main queue
// Prints: file 1 seen on a dispatch queue
// Prints: file 1 seen on an operation queue
// Prints: file 1 seen on a thread's run loop
// Prints: without the listener on a thread's run loop: 4 observers
// Prints: without the listener on the watching thread: 0 observers

import Foundation
import Tether

extension Notification.Name {
    /// Posted for every new file of the folder; `userInfo["file"]` is the file's name.
    static let fileAppeared = Notification.Name("fileAppeared")
}

/// An object that observes new files, on a target of its own.
final class Listener: Sendable {
    let place: String

    init(_ place: String, on target: DeliveryTarget, of center: ObserverCenter) {
        self.place = place
        center.observe(.fileAppeared, owner: self, on: target) { listener, note in
            print("\(note.userInfo?["file"] ?? "?") seen on \(listener.place)")
            DispatchQueue.main.async { seen += 1 }
        }
    }
}

var seen = 0
let center = ObserverCenter()
let thread = RunLoopThread(name: "files")
thread.start()
var listeners = [
    Listener("the watching thread", on: .postingThread, of: center),
    Listener("the main queue", on: .main, of: center),
    Listener("a dispatch queue", on: .dispatchQueue(DispatchQueue(label: "files")), of: center),
    Listener("an operation queue", on: .operationQueue(OperationQueue()), of: center),
    Listener("a thread's run loop", on: .thread(thread), of: center),
]

let given = CommandLine.arguments.dropFirst().first
if let given, (try? FileManager.default.contentsOfDirectory(atPath: given)) == nil {
    FileHandle.standardError.write(Data("There is no folder \(given) that can be read.\n".utf8))
    exit(EX_USAGE)
}
let folder =
    given.map { URL(filePath: $0) }
    ?? FileManager.default.temporaryDirectory.appending(path: "FolderWatch-\(UUID().uuidString)")
if given == nil {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
}
let watcher = FolderWatcher(folder) {
    center.post(name: .fileAppeared, object: nil, userInfo: ["file": $0])
}

if given != nil {
    RunLoop.main.run(until: Date(timeIntervalSinceNow: 60))
} else {
    for number in 1...listeners.count {
        seen = 0
        try Data().write(to: folder.appending(path: "file \(number)"))
        while seen < listeners.count {
            _ = RunLoop.main.run(mode: .default, before: .distantFuture)
        }
        let place = listeners.removeLast().place
        // The handler that printed the last line may still retain its listener.
        while center.audit().count > listeners.count {
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
        }
        let count = center.audit().count
        print(
            "without the listener on \(place): \(count) observer\(count == 1 ? "" : "s")")
    }
    try FileManager.default.removeItem(at: folder)
}
watcher.stop()
thread.cancel()
