internal import Dispatch
internal import Synchronization

#if canImport(os)
internal import os
#endif

/// An event of a trace (L5); on Apple platforms it is a signpost as well.
///
/// A caller checks `isOn`, one relaxed load, and calls `write` out of line. So the code around it is as without traces.
struct TraceEvent: Sendable {
    /// The phases of Chrome's trace event format, by its letters.
    enum Phase: String, Sendable {
        case begin = "B"
        case end = "E"
        /// Of a slice that may change threads.
        case asyncBegin = "b"
        case asyncEnd = "e"
        case instant = "i"
        case flowStart = "s"
        case flowFinish = "f"
        case metadata = "M"

        var isEnd: Bool { self == .end || self == .asyncEnd || self == .flowFinish }
    }

    enum Value: Sendable {
        case text(String)
        /// The digits of a number.
        case number(String)

        /// A time in nanoseconds, which is written in microseconds.
        static func microseconds(_ time: UInt64) -> Value {
            .number("\(time / 1000)." + String(time % 1000 + 1000).dropFirst())
        }
    }

    let phase: Phase
    let name: String
    let arguments: [(key: String, value: Value)]
    /// The moment of the beginning that an end belongs to, or 0.
    let begun: UInt64

    init(_ phase: Phase, _ name: String, _ arguments: [(key: String, value: Value)] = [], begun: UInt64 = 0) {
        (self.phase, self.name, self.arguments, self.begun) = (phase, name, arguments, begun)
    }

    // MARK: Writing

    /// Set while a trace is written. In release it is a static of one byte.
    private static let isTraced = Atomic<Bool>(false)
    /// Writes an event, and returns its moment.
    private static let writer = Guarded<(@Sendable (TraceEvent) -> UInt64)?>(nil)

    /// Whether a trace is written.
    @inline(__always)
    static var isOn: Bool { isTraced.load(ordering: .relaxed) }

    /// Has events written from now on, or by nobody.
    static func setWriter(_ new: (@Sendable (TraceEvent) -> UInt64)?) {
        if let new { writer.withLock { $0 = new } }
        isTraced.store(new != nil, ordering: .sequentiallyConsistent)
    }

    /// Writes an event; returns its moment, which no other event has.
    ///
    /// `title` precedes the name. `begun`: the moment of the beginning that an end belongs to. `waitedSince`: the moment from
    /// which a delivery waited.
    @inline(never) @discardableResult
    static func write(
        _ phase: Phase, _ title: StaticString = "", _ name: String = "", begun: UInt64 = 0,
        site: RegistrationSite? = nil, _ key: StaticString = "", _ value: String = "", waitedSince: UInt64 = 0
    ) -> UInt64 {
        var arguments: [(key: String, value: Value)] = []
        if let site { arguments.append(("observer", .text("\(site.file):\(site.line)"))) }
        if key.utf8CodeUnitCount > 0 { arguments.append(("\(key)", .text(value))) }
        if waitedSince > 0 {
            let now = DispatchTime.now().uptimeNanoseconds
            arguments.append(("waited µs", .microseconds(now > waitedSince ? now - waitedSince : 0)))
        }
        let event = TraceEvent(phase, "\(title)\(name)", arguments, begun: begun)
        let moment = writer.withLock(\.self)?(event) ?? 0
        #if canImport(os)
        if moment > 0 {
            signpost(event, of: begun > 0 ? begun : moment, "\(value) \(site.map { "\($0.file):\($0.line)" } ?? "")")
        }
        #endif
        return moment
    }

    /// Ends what began on this thread.
    static func end(_ begun: UInt64) { write(.end, begun: begun) }

    #if canImport(os)
    private static let log = OSLog(subsystem: "Tether", category: .pointsOfInterest)

    private static func signpost(_ event: TraceEvent, of moment: UInt64, _ text: String) {
        let type: OSSignpostType? =
            switch event.phase {
            case .begin, .asyncBegin: .begin
            case .end, .asyncEnd: .end
            case .instant: .event
            case .flowStart, .flowFinish, .metadata: nil
            }
        guard let type else { return }
        unsafe os_signpost(
            type, log: log, name: "Tether", signpostID: OSSignpostID(moment), "%{public}s", "\(event.name) \(text)")
    }
    #endif
}
