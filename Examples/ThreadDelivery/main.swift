// Notifications are posted on one thread, and handled on another.
//
// A decoder has a thread with a run loop. Its handlers run on that thread, in the order of the
// posts of any thread. Nobody removes the observers: they end with the decoder.
//
// Prints: packet 0 posted on the main thread; 1 waiting for the thread to start
// Prints: packet 0 decoded on thread decoder
// Prints: packet 3 decoded on thread decoder
// Prints: end of stream, on thread decoder
// Prints: decoder deallocated: no observers

import Foundation
import Tether

extension Notification.Name {
    static let packet = Notification.Name("packet")
    static let endOfStream = Notification.Name("endOfStream")
}

final class Decoder: Sendable {
    init(center: ObserverCenter, thread: RunLoopThread) {
        center.connect(.packet, to: Decoder.decode, of: self, on: .thread(thread))
        center.observe(.endOfStream, owner: self, on: .thread(thread)) { _, _ in
            print("end of stream, on \(currentThreadName())")
        }
    }

    func decode(_ notification: Notification) {
        print("packet \(notification.userInfo?["number"] ?? "?") decoded on \(currentThreadName())")
    }
}

func currentThreadName() -> String {
    Thread.isMainThread ? "the main thread" : "thread \(Thread.current.name ?? "?")"
}

let center = ObserverCenter()
let thread = RunLoopThread(name: "decoder")
let finished = DispatchSemaphore(value: 0)
var decoder: Decoder? = Decoder(center: center, thread: thread)
// The last observer on the same thread: when its handler runs, no handler retains the decoder.
let end = center.observe(.endOfStream, on: .thread(thread)) { _ in finished.signal() }

// The thread is not started yet: the delivery waits until the thread's loop runs.
center.post(name: .packet, object: nil, userInfo: ["number": 0])
print(
    "packet 0 posted on \(currentThreadName()); \(center.audit()[0].pending) waiting for the thread to start"
)
thread.start()

let network = Thread {
    for number in 1...3 {
        center.post(name: .packet, object: nil, userInfo: ["number": number])
    }
    center.post(name: .endOfStream, object: nil)
}
network.name = "network"
network.start()
finished.wait()
end.cancel()

decoder = nil
print("decoder deallocated: \(center.audit())")
guard center.audit().isEmpty else { fatalError("The decoder's observers are still there.") }
thread.cancel()
