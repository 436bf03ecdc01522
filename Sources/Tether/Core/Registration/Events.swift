internal import Foundation
internal import Synchronization

// Each thing that happens to observers, deliveries and centers is one `Event`, reported once at its place in the code.
//
// | Listener | Events | Set by |
// |---|---|---|
// | a trace | posts, calls, deliveries, ends | `Events.setTracer`, in Trace/Trace.swift |
// | leak checks | registrations and centers | `Events.setWatcher`, in Audit/Watched.swift |
//
// The audit needs no listener: pending deliveries and sequences count drops by `DropReason`.
//
// *Cost*: without a listener a registration, its end, and a waiting delivery pay one relaxed load each. A post of a
// cached name pays nothing, because a trace hides the caches of all centers (`CenterCore.followTrace`). The reporting
// code is out of line, so the surrounding code is as without listeners.

/// An event for the listeners.
enum Event: Sendable {
    /// The time of an event in the trace, unique among events. 0 if the event was not traced.
    typealias Moment = UInt64

    // Beginnings. An `.end` with the moment of a beginning follows on the same thread.
    case post(Notification.Name)
    /// `waitedSince`: the moment of the `.waiting` of a delivery that waited.
    case call(Registration, Notification.Name, waitedSince: Moment)
    case observerEnds(Registration, because: EndCause)
    case ownerEnds(OwnerRecord)
    case end(Moment)

    // Calls of async handlers, which may change threads.
    case asyncCall(RegistrationSite)
    case asyncEnd(Moment)

    // Deliveries. Reported under the lock of the pending deliveries.
    case waiting(RegistrationSite)
    case delivered(since: Moment)
    case dropped(Notification.Name?, because: DropReason, at: RegistrationSite?)
    case switched(to: DeliveryTarget, at: RegistrationSite)

    // Registrations and centers. Reported with no lock held.
    case registered(Registration, Notification.Name?, token: any OwnedRegistration.Token)
    case ended(Registration)
    /// The address of a registration, whose handler's captures were released by the end of its center.
    case released(UInt)
    case centerMade(CenterCore)
    /// A center is about to end its observers.
    case centerEnds(CenterCore)
    case centerEnded(CenterCore)
}

/// Why an observer ends, in the words of a trace.
enum EndCause: String, Sendable {
    case stopped = "it was stopped or replaced"
    case usedUp = "it was called once"
    case deliveryDropped = "its one delivery was dropped"
    case ownerEnded = "its owner ends"
    case senderEnded = "its sender or center ended"
}

/// Why a notification was not delivered, in the words of a trace. An audit lists the counts in this order.
enum DropReason: String, Sendable, CaseIterable {
    case muted = "its observer is muted"
    case backlogIsFull = "its backlog is full"
    case bufferIsFull = "its buffer is full"
    case targetCancelled = "its target was cancelled, or has ended"
    case usedUp = "its observer was used up"
    case observerEnded = "its observer ends"

    /// The words of an audit.
    var note: String {
        switch self {
        case .muted: "while muted"
        case .backlogIsFull: "backlog full"
        case .bufferIsFull: "buffer full"
        case .targetCancelled: "cancelled"
        case .usedUp: "used up"
        case .observerEnded: "ended"
        }
    }
}

/// The listeners.
enum Events {
    typealias Tracer = @Sendable (Event) -> Event.Moment
    typealias Watcher = @Sendable (Event) -> Void

    private static let hasTracer = Atomic<Bool>(false)
    private static let hasWatcher = Atomic<Bool>(false)
    private static let listeners = Locked(Listeners())

    /// A struct, because each access to a tuple or an optional of functions would wrap the functions once more.
    private struct Listeners: Sendable {
        var tracer: Tracer?
        var watcher: Watcher?
    }

    /// Whether a trace is written.
    @inline(__always)
    static var areTraced: Bool { hasTracer.load(ordering: .relaxed) }

    /// Whether leak checks listen.
    @inline(__always)
    static var areWatched: Bool { hasWatcher.load(ordering: .relaxed) }

    /// Begins or ends a trace. The end takes no lock, because a forked process calls it.
    static func setTracer(_ tracer: Tracer?) {
        if let tracer { listeners.withLock { $0.tracer = tracer } }
        hasTracer.store(tracer != nil, ordering: .sequentiallyConsistent)
    }

    /// Begins or ends the listening of leak checks.
    static func setWatcher(_ watcher: Watcher?) {
        listeners.withLock { $0.watcher = watcher }
        hasWatcher.store(watcher != nil, ordering: .releasing)
    }

    /// Reports an event, and returns its moment. Called if `areTraced` or `areWatched`.
    @inline(never) @discardableResult
    static func report(_ event: Event) -> Event.Moment {
        let listeners = listeners.withLock { $0 }
        listeners.watcher?(event)
        return areTraced ? listeners.tracer?(event) ?? 0 : 0
    }

    /// Reports the end of a moment's event, if the event was traced.
    @inline(__always)
    static func end(_ begun: Event.Moment) {
        if begun > 0 { report(.end(begun)) }
    }

    @inline(__always)
    static func registered(
        _ registration: Registration, name: Notification.Name?, by token: any OwnedRegistration.Token
    ) {
        if areWatched { report(.registered(registration, name, token: token)) }
    }

    /// Reports the beginning and the completion of a center's end; `end` ends the center.
    static func centerEnds(_ core: CenterCore, _ end: () -> Void) {
        if areWatched { report(.centerEnds(core)) }
        end()
        if areWatched { report(.centerEnded(core)) }
    }
}
