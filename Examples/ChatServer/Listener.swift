import Dispatch
import Foundation

/// A TCP socket on a free port of the loopback interface.
final class Listener: Sendable {
    let port: UInt16
    private let socket: Int32

    init() {
        #if canImport(Darwin)
        let stream: Int32 = SOCK_STREAM
        #else
        let stream = Int32(SOCK_STREAM.rawValue)
        #endif
        socket = Foundation.socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { [socket] address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, length) == 0 && listen(socket, 8) == 0
                    && getsockname(socket, $0, &length) == 0
            }
        }
        guard isListening else {
            fatalError("No port of the loopback can be listened on: errno \(errno).")
        }
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Calls a handler with the socket of each new client, on a thread of its own.
    func accept(_ handler: @escaping @Sendable (Int32) -> Void) {
        Thread.detachNewThread { [socket] in
            while true {
                let client = Foundation.accept(socket, nil, nil)
                if client >= 0 { handler(client) }
            }
        }
    }
}
