internal import Synchronization

/// The way of an `ObserverEvent` from its place in the code to the subscribers, which stand in layers
/// above.
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

    /// Returns the moment of the event, if the subscriber shows the event in a trace.
    typealias Receiver = @Sendable (ObserverEvent) -> ObserverEvent.Moment?

    private struct Receivers: Sendable {
        var trace: Receiver?
        var leakChecks: Receiver?
    }

    private static let receivers = Locked(Receivers())

    /// Sets the function that takes the events of the trace, from `subscribe` on. A call of the old
    /// function may be under way.
    static func setTraceReceiver(_ receive: @escaping Receiver) {
        receivers.withLock { $0.trace = receive }
    }

    /// The same for leak checks.
    static func setLeakReceiver(_ receive: Receiver?) {
        receivers.withLock { $0.leakChecks = receive }
    }

    /// Takes no lock.
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
        let receivers = receivers.withLock { $0 }
        if present.contains(.leakChecks) { _ = receivers.leakChecks?(event) }
        return present.contains(.trace) ? receivers.trace?(event) : nil
    }

    /// Reports the end of an event, if a trace has the event.
    @inline(__always)
    static func end(_ begun: ObserverEvent.Moment?) {
        if let begun { report(.end(of: begun)) }
    }

    /// Reports the end of a call that may have changed threads, if a trace has its beginning.
    @inline(__always)
    static func endAsync(_ begun: ObserverEvent.Moment?) {
        if let begun { report(.asyncEnd(of: begun)) }
    }
}
