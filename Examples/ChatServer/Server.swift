import Foundation
import Synchronization
import Tether

/// Stores the connections by number.
final class Server: Sendable {
    private let center: ObserverCenter
    private let connections = Mutex<[Int: Connection]>([:])
    private let count = Atomic(0)
    private let hasEmptied = DispatchSemaphore(value: 0)

    init(center: ObserverCenter) { self.center = center }

    func connected(_ socket: Int32) {
        let number = count.add(1, ordering: .relaxed).newValue
        let connection = Connection(socket, number: number, center: center)
        connections.withLock { $0[number] = connection }
        say("\(number) has joined")
        Thread.detachNewThread { [self] in
            Connection.readLines(from: socket) { line in
                center.post(
                    name: .said, object: nil,
                    userInfo: ["line": "\(number): \(line)\n", "number": number])
            }
            left(number)
        }
    }

    private func left(_ number: Int) {
        let (connection, isLast) = connections.withLock {
            ($0.removeValue(forKey: number), $0.isEmpty)
        }
        withExtendedLifetime(connection) { say("\(number) has left") }
        if isLast { hasEmptied.signal() }
    }

    func waitUntilLastHasLeft() { hasEmptied.wait() }
}
