// A chat server on the loopback, in which a connection is the owner of its observers.
//
// Whoever sends a line posts it; every other connection observes what is said, each on a queue of
// its own, so that a client that reads slowly holds up nobody. When a client goes, its connection
// goes, and with it its observer: nothing in this program removes one. The server ends when the
// last client has gone, and shows that its center is empty.
//
//     swift run ChatServer           prints the port; then, for each client: nc 127.0.0.1 PORT

import Dispatch
import Foundation
import Tether

extension Notification.Name {
    static let said = Notification.Name("said")
}

// A write to a disconnected client is then an error of `send`, not a signal that ends the program.
_ = signal(SIGPIPE, SIG_IGN)
let center = ObserverCenter()
let listener = Listener()
say("listening on 127.0.0.1:\(listener.port)")

let server = Server(center: center)
listener.accept { server.connected($0) }
server.waitUntilLastHasLeft()

// A line on its way to a client holds its connection until it is sent.
while !center.audit().isEmpty { sched_yield() }
say("the last has left: \(center.audit())")

/// Prints a line at once, also into a file or a pipe.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
