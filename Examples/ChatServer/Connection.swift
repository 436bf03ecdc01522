import Dispatch
import Foundation
import Tether

/// A client's connection. Only the server retains it, until the client disconnects.
final class Connection: Sendable {
    let number: Int
    private let socket: Int32

    init(_ socket: Int32, number: Int, center: ObserverCenter) {
        self.socket = socket
        self.number = number
        let queue = DispatchQueue(label: "connection \(number)")
        center.observe(.said, owner: self, on: .dispatchQueue(queue)) { connection, note in
            guard let line = note.userInfo?["line"] as? String,
                note.userInfo?["number"] as? Int != connection.number
            else { return }
            connection.send(line)
        }
        send("you are \(number)\n")
    }

    /// Runs with the last reference to the connection, after its observer has ended.
    deinit { close(socket) }

    private func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe Foundation.send(socket, bytes, bytes.count, 0)
    }

    /// Reads the client's lines, and passes each to a handler, until the client disconnects.
    static func readLines(from socket: Int32, _ handler: (Substring) -> Void) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(socket, &bytes, bytes.count)
            guard count > 0 else { return }
            String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").forEach(handler)
        }
    }
}
