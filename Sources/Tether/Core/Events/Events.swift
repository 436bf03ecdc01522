internal import Dispatch
internal import Foundation
internal import Synchronization

#if canImport(os)
internal import os
#endif

// What happens to observers and deliveries is reported once, at its place in the code, as an
// `Event` of a trace. Leak checks follow registrations and centers by `RegistrationWatch`; audits
// count drops by `DropReason`.
//
// *Cost*: without a trace, an observer's end and a waiting delivery pay one relaxed load each. A
// post of a cached name pays nothing, because a trace hides the caches of all centers
// (`CenterCore.followTrace`).

/// An event in Chrome's trace event format.
struct Event {
    /// The time of an event in the trace, unique among events. 0 if the event was not traced.
    typealias Moment = UInt64

    enum Phase {
        case begin
        case end
        /// The beginning of a slice in a row of its own, named by the event.
        case asyncBegin
        case asyncEnd
        /// The beginning and the end of a wait: a slice in a row of its own, and an arrow from the
        /// post to the call.
        case waitBegin
        case waitEnd
        case instant
        /// A mark that ends the slice of a wait.
        case drop
        case metadata
    }

    let phase: Phase
    let name: String
    /// The details, as JSON.
    let arguments: KeyValuePairs<String, String>
    /// The moment of the beginning that the event ends; `nil` if the event ends nothing.
    let begun: Moment?

    init(
        _ phase: Phase, _ name: String, _ arguments: KeyValuePairs<String, String> = [:],
        begun: Moment? = nil
    ) {
        self.phase = phase
        self.name = name
        self.arguments = arguments
        self.begun = begun
    }

    /// Shows the event in Instruments on Apple platforms: an interval, or a point.
    func emitSignpost(at moment: Moment) {
        #if canImport(os)
        enum Log { static let shared = OSLog(subsystem: "Tether", category: .pointsOfInterest) }
        guard Log.shared.signpostsEnabled else { return }
        let type: OSSignpostType
        switch phase {
        case .begin, .asyncBegin, .waitBegin: type = .begin
        case .end, .asyncEnd, .waitEnd, .drop: type = .end
        case .instant: type = .event
        case .metadata: return
        }
        let text = ([name] + arguments.map { "\($0): \($1)" }).joined(separator: " ")
        let id = OSSignpostID(begun ?? moment)
        unsafe text.withCString { characters in
            // SAFETY: the one argument is a C string, as the format says, which is copied.
            unsafe os_signpost(
                type, log: Log.shared, name: "Tether", signpostID: id, "%{public}s", characters)
        }
        #endif
    }

    // MARK: Beginnings. An `end` with the moment of the beginning follows on the same thread.

    static func post(_ name: Notification.Name) -> Event { Event(.begin, "post \(name.rawValue)") }

    /// `since`: the moment of the `waiting` of a delivery that waited, or 0.
    static func call(
        _ registration: Registration, _ name: Notification.Name, waitedSince since: Moment
    ) -> Event {
        let title = "\(name.rawValue) · \(registration.site.shortDescription)"
        if since == 0 { return Event(.begin, title, ["observer": registration.site.json]) }
        let waited = max(DispatchTime.now().uptimeNanoseconds, since) - since
        // The target now. The target may have been switched while the delivery waited.
        let target = registration.pending?.target.description ?? ""
        return Event(
            .begin, title,
            [
                "observer": registration.site.json, "on": target.json,
                "waited µs": microseconds(waited),
            ])
    }

    /// `nil` for a registration in no center, but for the work of an owner.
    static func observerEnds(_ registration: Registration, because cause: EndCause) -> Event? {
        let title: String
        if let work = registration.workHook?.targetDescription {
            title = "end of \(work)"
        } else if let subject = registration.center.subject(of: registration) {
            title = "end of observer \(describeName(subject.name))"
        } else {
            return nil
        }
        return Event(
            .begin, title, ["observer": registration.site.json, "because": cause.rawValue.json])
    }

    static func ownerEnds(_ record: ObjectRecord) -> Event {
        Event(.begin, "end of \(record.instance)")
    }
    static func end(_ begun: Moment) -> Event { Event(.end, "", begun: begun) }

    // MARK: Calls of async handlers, which may change threads

    static func asyncCall(_ site: RegistrationSite) -> Event {
        Event(.asyncBegin, "async handler", ["observer": site.json])
    }

    /// The run of an owner's task or loop.
    static func work(_ label: String, at site: RegistrationSite?) -> Event {
        Event(.asyncBegin, label, site.map { ["observer": $0.json] } ?? [:])
    }

    static func asyncEnd(_ begun: Moment) -> Event { Event(.asyncEnd, "", begun: begun) }

    // MARK: Deliveries. Waits and drops are reported under the lock of the pending deliveries.

    static func waiting(for target: String, at site: RegistrationSite) -> Event {
        Event(.waitBegin, "waiting for \(target)", ["observer": site.json])
    }

    static func delivered(since: Moment) -> Event { Event(.waitEnd, "", begun: since) }

    /// `since`: the moment of the `waiting` of the delivery, or 0.
    static func dropped(
        _ name: Notification.Name?, because reason: DropReason, at site: RegistrationSite?,
        waitedSince since: Moment = 0
    ) -> Event {
        let because = reason.words.json
        var title = "dropped"
        if let name { title += " \(name.rawValue)" }
        var arguments: KeyValuePairs = ["because": because]
        if let site { arguments = ["observer": site.json, "because": because] }
        guard since > 0 else { return Event(.instant, title, arguments) }
        return Event(.drop, title, arguments, begun: since)
    }

    static func switched(to target: DeliveryTarget, at site: RegistrationSite) -> Event {
        Event(.instant, "target \(target.description)", ["observer": site.json])
    }

    /// A time in nanoseconds, written in microseconds.
    static func microseconds(_ time: UInt64) -> String {
        "\(time / 1000)." + String(time % 1000 + 1000).dropFirst()
    }
}

/// Why an observer ends, in the words of a trace.
enum EndCause: String, Sendable {
    case stopped = "it was cancelled or replaced"
    case usedUp = "it was called once"
    case returned = "its operation returned"
    case deliveryDropped = "its one delivery was dropped"
    case ownerEnded = "its owner ends"
    case senderEnded = "its sender or center ended"
    case finished = "it was finished"
}

/// Why a notification was not delivered, in the order of an audit. Only a trace sees the drops of an
/// observer's end: an ended observer has no row.
enum DropReason: Int, Sendable, CaseIterable {
    case muted
    case backlogIsFull
    case bufferIsFull
    case targetCancelled
    case usedUp
    case observerEnded

    /// The reason in the words of a trace and of an audit.
    var words: String {
        switch self {
        case .muted: "its observer is muted"
        case .backlogIsFull: "its backlog is full"
        case .bufferIsFull: "its buffer is full"
        case .targetCancelled: "its target was cancelled or has ended"
        case .usedUp: "its observer was used up"
        case .observerEnded: "its observer ends"
        }
    }
}

/// The numbers of dropped notifications by reason. A dictionary would hash a reason under the lock
/// of each post to a muted observer.
struct DropCounts: Sendable, Hashable {
    /// By the raw values of the reasons; empty before the first drop.
    private var counts: [Int] = []

    subscript(reason: DropReason) -> Int { counts.isEmpty ? 0 : counts[reason.rawValue] }

    var total: Int { counts.reduce(0, +) }

    @inline(__always)
    mutating func add(_ number: Int = 1, because reason: DropReason) {
        if counts.isEmpty {
            counts = Array(repeating: 0, count: DropReason.allCases.count)
        }
        counts[reason.rawValue] += number
    }

    static func + (first: DropCounts, second: DropCounts) -> DropCounts {
        var sum = first
        for reason in DropReason.allCases where second[reason] > 0 {
            sum.add(second[reason], because: reason)
        }
        return sum
    }
}

/// The way from the reporting code to the file of a trace.
enum Events {
    /// No other lock is taken under this lock.
    static let trace = Locked(State())
    private static let hasTrace = Atomic<Bool>(false)

    struct State {
        var writer: TraceWriter?
        /// The moment of the last event of all traces.
        private var last: Event.Moment = 0

        mutating func nextMoment() -> Event.Moment {
            last = max(DispatchTime.now().uptimeNanoseconds, last + 1)
            return last
        }
    }

    /// Whether a trace is written. Set to false without a lock in a forked process.
    @inline(__always)
    static var areTraced: Bool {
        get { hasTrace.load(ordering: .relaxed) }
        set { hasTrace.store(newValue, ordering: .sequentiallyConsistent) }
    }

    /// Writes an event, and returns its moment. Called if `areTraced`.
    @inline(never) @discardableResult
    static func report(_ event: Event?) -> Event.Moment {
        guard areTraced, let event else { return 0 }
        let moment = trace.withLock { trace in
            let moment = trace.nextMoment()
            trace.writer?.write(event, at: moment)
            return moment
        }
        event.emitSignpost(at: moment)
        return moment
    }

    /// Reports the end of a moment's event, if the event was traced.
    @inline(__always)
    static func end(_ begun: Event.Moment) {
        if begun > 0 { report(.end(begun)) }
    }
}

extension RegistrationSite {
    fileprivate var json: String { "\(file):\(line)".json }

    /// The file without its module, and the line.
    fileprivate var shortDescription: String { "\(file.split(separator: "/").last ?? ""):\(line)" }
}

extension String {
    /// The text as a JSON string.
    var json: String {
        var escaped = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": escaped += "\\\(scalar)"
            case "\0"..<" ":
                escaped +=
                    "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped + "\""
    }
}
