internal import Dispatch
internal import Foundation

#if canImport(os)
internal import os
#endif

/// An event in the form that `TraceWriter` writes in Chrome's trace event format, and that
/// Instruments shows on Apple platforms.
struct TraceEvent {
    typealias Moment = ObserverEvent.Moment

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

    // MARK: The form of each event

    /// `nil` for an event that a trace does not show.
    init?(_ event: ObserverEvent) {
        switch event {
        case .post(let name):
            self.init(.begin, "post \(name.rawValue)")
        case .call(let registration, let name, let since):
            self.init(callOf: registration, name, waitedSince: since)
        case .observerEnds(let registration, let cause):
            self.init(endOf: registration, because: cause)
        case .ownerEnds(let record):
            self.init(.begin, "end of \(record.instance)")
        case .asyncCall(let site):
            self.init(.asyncBegin, "async handler", ["observer": site.json])
        case .work(let label, let site):
            self.init(.asyncBegin, label, site.map { ["observer": $0.json] } ?? [:])
        case .end(let begun): self.init(.end, "", begun: begun)
        case .asyncEnd(let begun): self.init(.asyncEnd, "", begun: begun)
        case .waiting(let target, let site):
            self.init(.waitBegin, "waiting for \(target)", ["observer": site.json])
        case .delivered(let since):
            self.init(.waitEnd, "", begun: since)
        case .dropped(let reason, let name, let site, let since):
            self.init(dropOf: name, because: reason, at: site, waitedSince: since)
        case .switched(let target, let site):
            self.init(.instant, "target \(target.description)", ["observer": site.json])
        case .registered, .ended, .released, .centerMade, .centerEnds, .centerEnded:
            return nil
        }
    }

    private init(
        callOf registration: Registration, _ name: Notification.Name, waitedSince since: Moment?
    ) {
        let title = "\(name.rawValue) · \(registration.site.shortDescription)"
        guard let since else {
            self.init(.begin, title, ["observer": registration.site.json])
            return
        }
        let waited = max(DispatchTime.now().uptimeNanoseconds, since) - since
        // The target now. The target may have been switched while the delivery waited.
        let target = registration.mailbox?.target.description ?? ""
        self.init(
            .begin, title,
            [
                "observer": registration.site.json, "on": target.json,
                "waited µs": TraceEvent.microseconds(waited),
            ])
    }

    /// `nil` for a registration in no center, but for the work of an owner.
    private init?(endOf registration: Registration, because cause: EndCause) {
        let title: String
        if let work = registration.workHook?.targetDescription {
            title = "end of \(work)"
        } else if let subject = registration.center.subject(of: registration) {
            title = "end of observer \(describeName(subject.name))"
        } else {
            return nil
        }
        self.init(
            .begin, title, ["observer": registration.site.json, "because": cause.rawValue.json])
    }

    private init(
        dropOf name: Notification.Name?, because reason: DropReason, at site: RegistrationSite?,
        waitedSince since: Moment?
    ) {
        let because = reason.words.json
        var title = "dropped"
        if let name { title += " \(name.rawValue)" }
        var arguments: KeyValuePairs = ["because": because]
        if let site { arguments = ["observer": site.json, "because": because] }
        self.init(since == nil ? .instant : .drop, title, arguments, begun: since)
    }

    /// A time in nanoseconds, written in microseconds.
    static func microseconds(_ time: UInt64) -> String {
        "\(time / 1000)." + String(time % 1000 + 1000).dropFirst()
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
