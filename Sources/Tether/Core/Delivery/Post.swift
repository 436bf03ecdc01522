internal import Foundation

/// A post, or an unmuting, to observers of which some are routed.
///
/// The post asks each observer once, in registration order: the notification is dropped, kept,
/// appended for a block, or handled by a call here. Then the post submits the blocks, and then makes
/// the calls, each unless its observer has ended. So a handler that waits for a queue finds the
/// deliveries there (M3), and what a handler switches or mutes holds from the next post on (D3).
///
/// A post collects; each observer's `Mailbox` decides; `Effects` carries blocks and
/// releases past the lock; a `Block` travels to the queue of a target.
struct Post: ~Copyable {
    var effects = Effects()
    var overtaking = Overtaking()
    /// The number that the deliveries of this post share, made for the first of them.
    private var number: PostNumber?

    /// A delivery of the post to an observer. `waitsSince`: the moment, in a trace.
    mutating func delivery(
        of stored: StoredNotification, waitsSince: ObserverEvent.Moment?
    ) -> DeliveryQueue.Delivery {
        let number = number ?? PostNumber.next()
        self.number = number
        return DeliveryQueue.Delivery(
            stored: stored, postNumber: number, waitsSince: waitsSince)
    }
}

/// A call of a handler on the posting thread.
/// SAFETY: the epoch guard of the post keeps the registration's memory.
@safe struct PostedCall {
    let registration: Unmanaged<Registration>
    /// The notification that a hook has made for this observer.
    let prepared: StoredNotification?

    /// The registration is not retained, because it may have been deinitialised.
    init(of registration: Unmanaged<Registration>, with prepared: StoredNotification? = nil) {
        unsafe self.registration = unsafe registration
        self.prepared = prepared
    }
}

/// A posted notification as it waits: without objects that are being deinitialised (X3), and stored
/// once for all observers.
struct WaitingForm {
    private var stored: StoredNotification?
    private var isExamined: Bool

    init(_ stored: StoredNotification? = nil) {
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

    /// The stored form of a notification that was examined.
    mutating func store(_ notification: Notification) -> StoredNotification {
        if let stored { return stored }
        let made = StoredNotification(notification)
        stored = made
        return made
    }
}

/// Whether a post, or an unmuting, may be handled on its thread before the deliveries that wait
/// there (D3). All observers at a place get the same answer, so that the post is handled as a whole
/// (D4).
struct Overtaking {
    typealias GivenAnswer = (place: ObjectIdentifier, answer: Answer)

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

    /// The answers that were given. A place is known by its count.
    private var first: GivenAnswer?
    private var others: [GivenAnswer] = []

    /// The answer for the place whose deliveries `waiting` counts.
    mutating func answer(at waiting: WaitingCount) -> Answer {
        let place = ObjectIdentifier(waiting)
        guard let first else {
            let answer = Overtaking.answerNow(at: waiting)
            first = (place, answer)
            return answer
        }
        if first.place == place { return first.answer }
        if let known = others.first(where: { $0.place == place }) { return known.answer }
        let answer = Overtaking.answerNow(at: waiting)
        others.append((place, answer))
        return answer
    }

    private static func answerNow(at waiting: WaitingCount) -> Answer {
        if waiting.isZero { return .nothingWaits }
        return ThreadRecord.isPostNested ? .nested : .refused
    }
}
