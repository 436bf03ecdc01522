// What still holds a closed document? On Linux with glibc the process names each holder, with the way
// from the holder to the document. Elsewhere the program prints the titles alone.

import Dispatch
import Foundation
import Tether
import TetherTesting

final class Document: @unchecked Sendable {
    var undo: (() -> Void)?
    func save() {}
}

/// The documents of the last days.
final class Recent: @unchecked Sendable {
    static let shared = Recent()
    var documents: [String: Document] = [:]
}

/// Opens and closes a document, and prints its holders.
func close(_ title: String, _ use: (Document) -> Void) {
    print("\(title):")
    for leak in findLeaks(limits: .init(deliveryWait: .zero), { use(track(Document())) }) {
        // The sentence without the object.
        let holder = leak.description.split(separator: " is still alive: ").last ?? ""
        print("    \(holder)")
    }
}

close("A cache") { document in
    Recent.shared.documents["Emma"] = document
}
// Prints:     `Recent.shared` holds it: `Recent.shared.documents["Emma"]` refers to it. Remove the object there, or make the reference weak.
Recent.shared.documents = [:]

let queue = DispatchQueue(label: "autosave")
queue.suspend()
close("A block on a queue") { document in
    queue.async { document.save() }
}
queue.resume()

let timer = DispatchSource.makeTimerSource(queue: queue)
timer.schedule(deadline: .distantFuture)
close("A timer") { document in
    timer.setEventHandler { document.save() }
    timer.activate()
}
timer.cancel()
queue.sync {}

let begun = DispatchSemaphore(value: 0)
let (autosaves, input) = AsyncStream.makeStream(of: Void.self)
close("A task") { document in
    Task.detached {
        begun.signal()
        for await _ in autosaves { document.save() }
    }
    begun.wait()
}
input.finish()

close("An observer on Foundation's center") { document in
    let name = Notification.Name("willTerminate")
    _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in
        document.save()
    }
}

close("A retain cycle") { document in
    document.undo = { document.save() }
}

close("An unbalanced retain") { document in
    _ = unsafe Unmanaged.passRetained(document)
}

// The same for one object, at any time.
let document = Document()
Recent.shared.documents["Persuasion"] = document
print("holders(of:) finds:")
for holder in holders(of: document).prefix(1) { print("    \(holder)") }
