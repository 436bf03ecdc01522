internal import Foundation
internal import Synchronization

/// The part of a post that reaches an observer.
enum PostStep {
    /// The first of two parts: no handler is called, and the blocks are submitted at the end. This
    /// part decides whether a call may overtake deliveries that wait on its target.
    case collecting
    /// The handlers of the posting thread are called. Overtaking is not asked: the first part has
    /// decided it, or the observer was not routed when the post began.
    case calling
    /// A post in one part, which decides about overtaking itself: of a foreign center, or to one
    /// observer. An appended delivery is submitted at once.
    case whole
    /// An unmuting, which delivers the kept notification as if posted now.
    case unmuting
}

/// A post on its way: the handlers that the post calls itself, and the notification that waits. The
/// value is made for the first part of a post in two parts, and otherwise for each routed observer.
///
/// A post in two parts first reaches all observers, in registration order. Then the post submits
/// the blocks, and then calls the handlers of the posting thread. So a handler that waits for a
/// queue finds the deliveries there (M3).
///
/// A post collects; each observer's `PendingDeliveries` decides; `Effects` carries blocks and
/// releases past the lock; a `Block` travels to the queue of a target.
/// SAFETY: `calls` does not retain the registrations; the epoch guard of the post keeps the
/// registrations' memory.
@safe struct Post: ~Copyable {
    /// The observers whose handlers run on the posting thread, in registration order.
    var calls = unsafe ContiguousArray<Unmanaged<Registration>>()
    var effects = Effects()
    var overtaking = Overtaking()
    /// The stored notification, shared by all observers that this value reaches.
    private var stored: StoredNotification?
    /// Whether the notification was examined for objects that are being deinitialised (X3).
    private var isExamined: Bool
    /// The number that the deliveries of this value share, made for the first of them.
    private var number: PostNumber?

    init(stored: StoredNotification? = nil) {
        self.stored = stored
        isExamined = stored != nil
    }

    /// Looks for objects that are being deinitialised, once. Called with no lock held, because an
    /// object may be asked.
    @inline(__always)
    mutating func examine(_ notification: borrowing Notification) {
        if isExamined { return }
        isExamined = true
        if let scrubbed = notification.scrubbed {
            stored = StoredNotification(scrubbed)
        }
    }

    /// A delivery of the post to an observer. `waitsSince`: the moment, in a trace.
    mutating func delivery(
        of notification: Notification, waitsSince: ObserverEvent.Moment?
    ) -> DeliveryQueue.Delivery {
        let number = number ?? PostNumber.next()
        self.number = number
        return DeliveryQueue.Delivery(
            stored: store(notification), postNumber: number, waitsSince: waitsSince)
    }

    private mutating func store(_ notification: Notification) -> StoredNotification {
        if let stored { return stored }
        let made = StoredNotification(notification)
        stored = made
        return made
    }

    /// Calls `body` with the post, but without the notification that the other observers share.
    mutating func withOwnNotification(_ body: (inout Post) -> Void) {
        let sharedNotification = stored
        let sharedIsExamined = isExamined
        stored = nil
        isExamined = false
        body(&self)
        stored = sharedNotification
        isExamined = sharedIsExamined
    }
}

/// Whether a post, or an unmuting, may be handled on its thread before the deliveries that wait
/// there (D3). Observers at a place, asked one after the other, get the same answer, so that the
/// post is handled as a whole (D4). The answer is forgotten if an observer at another place is
/// asked between.
struct Overtaking {
    enum Answer {
        /// Nothing waits. What comes from now on is handled later, unless it is late; see
        /// `DeliveryOrder`.
        case nothingWaits
        /// A handler, or other code inside a post or a block, makes the post, which so belongs to
        /// the delivery under way. Only an observer's own pending deliveries come first.
        case nested
        /// The post waits behind the deliveries.
        case refused
    }

    /// The answer, and the count of the place that it was given for.
    private var given: (count: ObjectIdentifier, answer: Answer)?

    /// The answer for the place whose deliveries `waiting` counts.
    mutating func answer(at waiting: WaitingCount, in step: PostStep) -> Answer {
        let count = ObjectIdentifier(waiting)
        if let given, given.count == count { return given.answer }
        let answer = Overtaking.answerNow(at: waiting, in: step)
        given = (count, answer)
        return answer
    }

    private static func answerNow(at waiting: WaitingCount, in step: PostStep) -> Answer {
        if waiting.isZero { return .nothingWaits }
        // A post is nested if there is an epoch guard besides its own. An unmuting has none yet.
        let isNested = step == .unmuting ? ThreadRecord.isDelivering : ThreadRecord.isPostNested
        return isNested ? .nested : .refused
    }
}

/// A place in posting order, among the deliveries of all centers (D6, D9). The deliveries that one
/// `Post` makes share it. A delivery in the second part of a post, or of an unmuting, has a later
/// one.
struct PostNumber: Comparable, Sendable {
    private let number: UInt64

    private static let last = Atomic<UInt64>(0)

    static func next() -> PostNumber {
        PostNumber(number: last.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    static func < (one: PostNumber, other: PostNumber) -> Bool { one.number < other.number }
}

/// A notification that waits, as an object: a reference long, and shared by all observers of a
/// post.
/// SAFETY: the notification never changes. The notification passes from the posting thread to the
/// targets, as a user of Foundation's `queue:` expects.
final class StoredNotification: @unchecked Sendable {
    let notification: Notification

    init(_ notification: Notification) { self.notification = notification }
}
