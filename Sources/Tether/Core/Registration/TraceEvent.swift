internal import COwnerLifetime

#if canImport(os)
internal import os
#endif

/// What a trace is told, while there is one (L5); on Apple platforms signposts say the same.
///
/// What tells it is out of line, so that the code around it is as if there were no traces, but for a look at `isOn`.
enum TraceEvent {
    enum Phase: Unicode.Scalar {
        case begin = "B"
        case end = "E"
        /// Of what may change threads.
        case asyncBegin = "b"
        case asyncEnd = "e"
        case instant = "i"
        case flowStart = "s"
        case flowFinish = "f"
    }

    /// Whether a trace is written.
    @inline(__always)
    static var isOn: Bool { tether_is_tracing() }

    /// Writes an event; returns its moment, which no other beginning has, or 0 if it was to have an end elsewhere and could
    /// not be written.
    ///
    /// `title` comes in front of the name. `moment`: the event's, if that is not now. `begun`: the moment of what ends with
    /// this. `waitedSince`: the moment from which what begins had to wait.
    @inline(never) @discardableResult
    static func write(
        _ phase: Phase, _ title: StaticString = "", _ name: String = "", at moment: UInt64 = 0, begun: UInt64 = 0,
        site: RegistrationSite? = nil, _ key: StaticString = "", _ value: String = "", waitedSince: UInt64 = 0
    ) -> UInt64 {
        var (name, value) = (name, value)
        let written = name.withUTF8 { name in
            value.withUTF8 { value in
                var event = unsafe tether_event()
                unsafe event.phase = CChar(phase.rawValue.value)
                unsafe event.time = moment
                unsafe event.id = begun
                unsafe event.title = title.utf8Start
                unsafe (event.name, event.name_length) = (name.baseAddress, name.count)
                if let site { unsafe (event.file, event.line) = (site.fileName, site.line) }
                if key.utf8CodeUnitCount > 0 { unsafe event.key = key.utf8Start }
                unsafe (event.value, event.value_length) = (value.baseAddress, value.count)
                unsafe event.waited_since = waitedSince
                return unsafe tether_trace_write(&event)
            }
        }
        #if canImport(os)
        if written > 0 { signpost(phase, of: begun > 0 ? begun : written, "\(title)\(name) \(value)", site) }
        #endif
        return written
    }

    /// Ends what began on this thread.
    static func end(_ begun: UInt64) { write(.end, begun: begun) }

    #if canImport(os)
    private static let log = OSLog(subsystem: "Tether", category: .pointsOfInterest)

    private static func signpost(_ phase: Phase, of moment: UInt64, _ text: String, _ site: RegistrationSite?) {
        let type: OSSignpostType? =
            switch phase {
            case .begin, .asyncBegin: .begin
            case .end, .asyncEnd: .end
            case .instant: .event
            case .flowStart, .flowFinish: nil
            }
        guard let type else { return }
        let place = site.map { " \($0.file):\($0.line)" } ?? ""
        unsafe os_signpost(
            type, log: log, name: "Tether", signpostID: OSSignpostID(moment), "%{public}s", text + place)
    }
    #endif
}
