import Foundation
import Testing
import Tether

/// An event of a trace, as a viewer reads it.
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

    /// A phase and a name, as `B post sample`.
    var description: String { "\(phase) \(name)" }

    /// The events in a file, in the order of time, but of one time in that of the file.
    ///
    /// `isComplete`: whether the trace was stopped. Otherwise what a viewer or a reader adds is added here: the closing
    /// bracket, after what a crash has torn is left out.
    static func read(_ file: URL, isComplete: Bool = true) throws -> [TracedEvent] {
        var data = try Data(contentsOf: file)
        if !isComplete {
            let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
                .filter { $0.hasPrefix("{") || $0.hasPrefix("[") }
            var text = lines.joined(separator: "\n")
            while text.hasSuffix(" ") || text.hasSuffix(",") { text.removeLast() }
            data = Data("\(text)]".utf8)
        }
        let fields = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        let events = try fields.map(TracedEvent.init)
        return events.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    }

    /// A file that is not there yet.
    static func freshFile() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "Tether-\(UUID().uuidString).json")
    }

    /// What a trace of a body says, without what it says of itself.
    static func events(of body: () throws -> Void) throws -> [TracedEvent] {
        let file = freshFile()
        defer { try? FileManager.default.removeItem(at: file) }
        try Tether.Trace.start(writingTo: file)
        try body()
        let summary = try #require(Tether.Trace.stop())
        let events = try read(file).filter { $0.phase != "M" && !$0.name.hasPrefix("trace ") }
        #expect(summary.written == events.count && summary.notWritten == 0)
        return events
    }
}
