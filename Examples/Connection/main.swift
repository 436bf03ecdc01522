// A connection that stops gracefully: its lines are sent, its tasks end, and its socket is closed.
//
// The connection starts a reader, a writer, a heartbeat and an idle timeout. It stores no task,
// cancels none, and has no `deinit`. `finish()` loses no line that was posted before it.
//
// Prints: the peer said hello
// Prints: sent: line 1
// Prints: sent: line 2
// Prints: sent: line 3
// Prints: sent: line 4
// Prints: sent: line 5
// Prints: the heartbeat stopped
// Prints: finished, with 0 observers, tasks and loops
// Prints: the socket is closed

import Foundation
import Tether

extension Notification.Name {
    static let lineToSend = Self("lineToSend")
}

/// Stands for a socket.
final class Socket: Sendable {
    let lines: AsyncStream<String>
    private let input: AsyncStream<String>.Continuation

    init() { (lines, input) = AsyncStream.makeStream() }

    func receive(_ line: String) { input.yield(line) }

    func send(_ line: String) async {
        // A slow network.
        try? await Task.sleep(for: .milliseconds(5))
        print("sent: \(line)")
    }

    func close() { print("the socket is closed") }
}

actor Connection {
    private let socket: Socket
    private let idleLimit: Duration
    private(set) var received: [String] = []

    init(_ socket: Socket, center: ObserverCenter, idleLimit: Duration) {
        self.socket = socket
        self.idleLimit = idleLimit
        // Reader: on the actor.
        socket.lines.observe(owner: self) { (connection: isolated Connection, line) in
            connection.takes(line)
        }
        // Writer: all lines that are posted.
        center.notifications(named: .lineToSend, making: { $0.object as? String })
            .observe(owner: self) { connection, line in await connection.socket.send(line) }
        // Heartbeat: it captures no connection.
        Task(owner: self) {
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(30)) }
            print("the heartbeat stopped")
        }
        // Last: when nobody uses the connection any more.
        OwnerLifetime.whenEnded(self) { socket.close() }
    }

    private func takes(_ line: String) {
        received.append(line)
        print("the peer said \(line)")
        restartIdleLimit()
    }

    /// The timeout of the latest line alone counts.
    private func restartIdleLimit() {
        Task(owner: self, key: "idle") { [weak self, idleLimit] in
            try? await Task.sleep(for: idleLimit)
            guard !Task.isCancelled else { return }
            await self?.stop()
        }
    }

    func stop() async { await OwnerObservers(of: self).finish() }

    func hasReceived(_ count: Int) async {
        while received.count < count { await Task.yield() }
    }
}

func run() async {
    let center = ObserverCenter()
    let socket = Socket()
    let connection = Connection(socket, center: center, idleLimit: .seconds(60))
    socket.receive("hello")
    await connection.hasReceived(1)
    for number in 1...5 { center.post(name: .lineToSend, object: "line \(number)") }
    await connection.stop()
    print("finished, with \(OwnerObservers(of: connection).count) observers, tasks and loops")
}

await run()
