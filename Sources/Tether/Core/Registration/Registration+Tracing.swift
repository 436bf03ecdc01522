internal import Foundation

/// What registrations tell a trace (L5). Out of line, because it is seldom called.
extension Registration {
    /// Calls a body, which calls the handler, under a trace. `posted`: the moment from which the delivery waited, or 0.
    @inline(never)
    final func traceCall(of name: Notification.Name, posted: UInt64, _ body: () -> Void) {
        // The target that it has now, and may have been switched to while the delivery waited.
        let target = posted > 0 ? pending?.target.description : nil
        let begun = TraceEvent.write(
            .begin, "", name.rawValue, site: site, target == nil ? "" : "on", target ?? "", waitedSince: posted)
        if posted > 0 { TraceEvent.write(.flowFinish, "delivery", begun: posted) }
        body()
        TraceEvent.end(begun)
    }

    /// An async handler's call under a trace.
    final func traced(_ work: @escaping AsyncRun.Work) -> AsyncRun.Work {
        let site = site
        return { actor in
            let begun = TraceEvent.write(.asyncBegin, "async handler", site: site)
            await work(actor)
            if begun > 0 { TraceEvent.write(.asyncEnd, "async handler", begun: begun) }
        }
    }

    /// The moment from which a delivery waits that is made now; 0 if there is no trace.
    @inline(__always)
    final var waitingSince: UInt64 { TraceEvent.isOn ? traceWaiting() : 0 }

    /// Tells of a delivery that waits from now on.
    @inline(never)
    private final func traceWaiting() -> UInt64 { TraceEvent.write(.flowStart, "delivery", site: site) }

    @inline(never)
    final func traceDrop(of name: Notification.Name, _ cause: String) {
        TraceEvent.write(.instant, "dropped ", name.rawValue, site: site, "because", cause)
    }

    @inline(never)
    static func traceSwitch(to target: DeliveryTarget, at site: RegistrationSite) {
        TraceEvent.write(.instant, "target ", target.description, site: site)
    }

    /// The beginning of the end; of what never was in a center, 0.
    @inline(never)
    final func traceEnd(because cause: EndCause) -> UInt64 {
        guard let subject = center.subject(of: self) else { return 0 }
        return TraceEvent.write(
            .begin, "end of observer ", describeName(subject.name), site: site, "because", cause.rawValue)
    }
}
