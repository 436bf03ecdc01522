internal import Foundation

/// An event of an observer, a delivery or a center.
///
/// Each event is reported once, where it happens, by `Events.report`. A trace shows all events but
/// those of the last group, as a `TraceEvent`. Leak checks follow those of the last group, as a
/// `RegistrationWatch.Change`.
enum ObserverEvent {
    /// The time of an event in the trace, unique among events.
    typealias Moment = UInt64

    // Beginnings. `Events.end` with the moment follows on the same thread.

    case post(Notification.Name)
    /// `waitedSince`: the moment of the `waiting` of a delivery that waited.
    case call(Registration, Notification.Name, waitedSince: Moment?)
    case observerEnds(Registration, because: EndCause)
    case ownerEnds(ObjectRecord)

    // Beginnings of calls that may change threads. `Events.endAsync` with the moment follows.

    case asyncCall(RegistrationSite)
    /// The run of an owner's task or loop.
    case work(String, at: RegistrationSite?)

    // The ends of both.

    case end(of: Moment)
    case asyncEnd(of: Moment)

    // Deliveries. Waits and drops are reported under the lock of the mailbox, and a drop
    // of a sequence's buffer with no lock held.

    case waiting(for: String, at: RegistrationSite)
    case delivered(since: Moment)
    case dropped(
        DropReason, of: Notification.Name?, at: RegistrationSite?, waitedSince: Moment? = nil)
    case switched(to: DeliveryTarget, at: RegistrationSite)

    // Registrations, and centers by their numbers, reported with no lock held.

    case registered(Registration, name: Notification.Name?, token: AnyObject)
    case ended(RegistrationAddress)
    /// The end of its center released the captures of the registration's handler, unless a call is
    /// under way.
    case released(RegistrationAddress)
    case centerMade(UInt64)
    /// A center is about to end its observers.
    case centerEnds(UInt64)
    case centerEnded(UInt64)
}

/// Why an observer ends, in the words of a trace. The causes of an end after the last delivery are
/// `senderEnded` and `finished`.
enum EndCause: String, Sendable {
    case stopped = "it was cancelled or replaced"
    case usedUp = "it was called once"
    case returned = "its operation returned"
    case deliveryDropped = "its one delivery was dropped"
    case ownerEnded = "its owner ends"
    case senderEnded = "its sender ended"
    case centerEnded = "its center ended"
    case finished = "it was finished"
}

/// Why a notification was not delivered, in the order of an audit. Only a trace sees the drops of
/// an observer's end: an ended observer has no row.
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

/// The numbers of dropped notifications by reason, beside the deliveries of an observer or the
/// elements of a sequence, under the same lock. A dictionary would hash a reason under the lock of
/// each post to a muted observer.
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
