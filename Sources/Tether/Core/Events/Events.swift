internal import Dispatch
internal import Synchronization

/// The way of an `ObserverEvent` from its place in the code to the subscribers.
///
/// *Cost*: without a subscriber, an event costs one relaxed load, and nothing of the event is made.
/// A post of a cached name to plain observers does not even ask, because a trace hides the caches
/// of all centers (`CenterCore.hideCaches`).
enum Events {
    struct Subscribers: OptionSet {
        let rawValue: UInt8

        static let trace = Subscribers(rawValue: 1)
        static let leakChecks = Subscribers(rawValue: 2)
    }

    private static let subscribers = Atomic<UInt8>(0)

    @inline(__always)
    static var present: Subscribers {
        Subscribers(rawValue: subscribers.load(ordering: .relaxed))
    }

    /// Whether a trace is written.
    @inline(__always)
    static var areTraced: Bool { present.contains(.trace) }

    static func subscribe(_ subscriber: Subscribers) {
        subscribers.bitwiseOr(subscriber.rawValue, ordering: .sequentiallyConsistent)
    }

    /// Takes no lock: also called in a forked process.
    static func unsubscribe(_ subscriber: Subscribers) {
        subscribers.bitwiseAnd(~subscriber.rawValue, ordering: .sequentiallyConsistent)
    }

    // MARK: Reporting

    /// Reports an event to the subscribers. Returns the moment, if a trace has the event.
    @inline(__always) @discardableResult
    static func report(_ event: @autoclosure () -> ObserverEvent) -> ObserverEvent.Moment? {
        if present.isEmpty { return nil }
        return pass(event())
    }

    @inline(never)
    private static func pass(_ event: ObserverEvent) -> ObserverEvent.Moment? {
        let present = present
        if present.contains(.leakChecks) { RegistrationWatch.take(event) }
        guard present.contains(.trace), let traced = TraceEvent(event) else { return nil }
        return write(traced)
    }

    /// Reports the end of an event, if a trace has the event.
    @inline(__always)
    static func end(_ begun: ObserverEvent.Moment?) {
        if let begun { writeEnd(TraceEvent(.end, "", begun: begun)) }
    }

    /// Reports the end of a call that may have changed threads, if a trace has its beginning.
    @inline(__always)
    static func endAsync(_ begun: ObserverEvent.Moment?) {
        if let begun { writeEnd(TraceEvent(.asyncEnd, "", begun: begun)) }
    }

    // MARK: The trace

    static let trace = Locked(State())

    struct State {
        var writer: TraceWriter?
        /// The moment of the last event of all traces.
        private var last: ObserverEvent.Moment = 0

        mutating func nextMoment() -> ObserverEvent.Moment {
            last = max(DispatchTime.now().uptimeNanoseconds, last + 1)
            return last
        }
    }

    @inline(never)
    private static func writeEnd(_ end: TraceEvent) {
        if areTraced { write(end) }
    }

    @discardableResult
    private static func write(_ event: TraceEvent) -> ObserverEvent.Moment {
        let moment = trace.withLock { trace in
            let moment = trace.nextMoment()
            trace.writer?.write(event, at: moment)
            return moment
        }
        event.emitSignpost(at: moment)
        return moment
    }
}
