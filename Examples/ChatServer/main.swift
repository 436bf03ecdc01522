// A chat server on the loopback interface. Each connection owns its observers.
//
// A connection posts the lines of its client, and observes the lines of all others on a queue of
// its own. So a client that reads slowly delays nobody. When a client disconnects, its connection
// is deallocated, and the observer ends: no line of this program removes an observer. The server
// ends after the last client, and shows that its center is empty.
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

// A handler that still sends a line retains its connection.
while !center.audit().isEmpty { sched_yield() }
say("the last has left: \(center.audit())")

/// Prints a line without buffering, also into a file or a pipe.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
