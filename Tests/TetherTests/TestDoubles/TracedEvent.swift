import Foundation
import Testing
import Tether

/// An event of a trace, as a viewer decodes it.
struct TracedEvent {
    let phase: String
    let name: String
    let thread: Int
    let time: Double
    let id: String?
    let arguments: [String: Any]

    init(_ fields: [String: Any]) throws {
        phase = try #require(fields["ph"] as? String)
        name = fields["name"] as? String ?? ""
        thread = try #require(fields["tid"] as? Int)
        time = fields["ts"] as? Double ?? 0
        id = fields["id"] as? String
        arguments = fields["args"] as? [String: Any] ?? [:]
        #expect(fields["pid"] is Int)
    }

    /// A phase and a name, as `B post sample`, without the place of a call's observer. The phases
    /// are those of Trace Event: a span begins and ends (`B`, `E`; `b`, `e` across threads), an
    /// instant (`i`), and an arrow from a post to its delivery (`s`, `f`).
    var description: String { "\(phase) \(name.split(separator: " · ").first ?? "")" }

    /// The events of a file. Their times do not fall, but the name of a thread has the time of the
    /// thread's first event.
    static func read(_ file: URL) throws -> [TracedEvent] {
        let array = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
        let events = try #require(array as? [[String: Any]]).map(TracedEvent.init)
        let times = events.filter { $0.phase != "M" }.map(\.time)
        #expect(zip(times, times.dropFirst()).allSatisfy(<=))
        return events
    }

    /// A path without a file.
    static func freshFile() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "Tether-\(UUID().uuidString).json")
    }

    /// The events during a body.
    static func events(of body: () throws -> Void) throws -> [TracedEvent] {
        let file = freshFile()
        defer { try? FileManager.default.removeItem(at: file) }
        try Trace.start(to: file)
        try body()
        let summary = try #require(Trace.stop())
        let events = try read(file).filter { $0.phase != "M" }
        #expect(summary.written == events.count && summary.notWritten == 0)
        return events
    }
}
