internal import Foundation
internal import Synchronization

/// The deliveries of one post on one target.
///
/// A post puts one block on the queue of each target, so a delivery keeps its place among all work
/// there (D2, D4). A block stores numbers, and `PendingDeliveries` stores the notifications. A
/// block retains neither the target nor the pending deliveries, which count their blocks: each
/// block runs once, or is dropped once.
struct Block: Sendable {
    /// The delivery to one observer.
    /// SAFETY: pending deliveries keep themselves until their last block begins or is dropped.
    @safe fileprivate struct Entry: Sendable {
        let pending: Unmanaged<PendingDeliveries>
        let number: UInt64

        func deliver(after previous: inout UInt, at epochGuard: UnsafeMutablePointer<EpochGuard>) {
            unsafe pending._withUnsafeGuaranteedRef {
                unsafe $0.deliver(number, after: &previous, at: epochGuard)
            }
        }

        func drop() { unsafe pending._withUnsafeGuaranteedRef { $0.drop(number) } }

        func markLate() { unsafe pending._withUnsafeGuaranteedRef { $0.markLate(number) } }
    }

    private let first: Entry
    /// The deliveries to further observers; in most blocks none.
    private var others: ContiguousArray<Entry> = []

    init(_ pending: PendingDeliveries, _ number: UInt64) {
        first = unsafe Entry(pending: .passUnretained(pending), number: number)
    }

    /// Adds the delivery to another observer.
    mutating func append(_ other: Block) { others.append(other.first) }

    /// Calls the handlers, on the target.
    ///
    /// `mayNest`: whether a handler may run later blocks of the target inside its call.
    func run(mayNest: Bool = false) {
        if mayNest {
            for other in others {
                other.markLate()
            }
        }
        unsafe ThreadRecord.withGuard(center: EpochGuard.noCenter, epoch: 0) { epochGuard in
            var previous: UInt = 0
            unsafe first.deliver(after: &previous, at: epochGuard)
            for other in others {
                unsafe other.deliver(after: &previous, at: epochGuard)
            }
        }
    }

    /// Drops and counts the deliveries of a block that never runs. The release may call the user's
    /// code.
    func drop() {
        first.drop()
        for other in others {
            other.drop()
        }
    }
}

/// A block for a queue that may run a block twice, drop or cancel a block: runs once, or is dropped
/// once.
final class CancellableBlock: Sendable {
    private let block: Block
    private let isUsed = Atomic<Bool>(false)

    init(_ block: Block) { self.block = block }

    deinit { cancel() }

    func run(mayNest: Bool = false) { if use() { block.run(mayNest: mayNest) } }

    /// Drops the deliveries, unless the block has begun.
    func cancel() { if use() { block.drop() } }

    private func use() -> Bool { !isUsed.exchange(true, ordering: .acquiringAndReleasing) }
}

/// The part of a post that reaches an observer.
enum PostStep {
    /// The first of two parts: no handler is called, and the blocks are submitted at the end.
    case collecting
    /// The second of two parts: the handlers of the posting thread are called.
    case calling
    /// A post in one part, to one observer.
    case whole
    /// An unmuting, which delivers the kept notification as if posted now.
    case unmuting
}

/// One post on its way: the handlers that the post calls itself, and the notification that waits.
///
/// A post first reaches all observers, in registration order. Then the post submits the blocks, and
/// then calls the handlers of the posting thread. So a handler that waits for a queue finds the
/// deliveries there (M3).
/// SAFETY: `calls` does not retain the registrations; the epoch guard of the post keeps the
/// registrations' memory.
@safe struct Post: ~Copyable {
    /// The observers whose handlers run on the posting thread, in registration order.
    var calls = unsafe ContiguousArray<Unmanaged<Registration>>()
    var effects = Effects()
    /// The stored notification, shared by all observers of the post.
    private var stored: StoredNotification?
    /// Whether the notification was examined for objects that are being deinitialised (X3).
    private var isExamined: Bool
    /// The place in posting order, made for the first observer that the post waits for.
    private var place: PostingPlace?

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
        of notification: Notification, waitsSince: Event.Moment
    ) -> DeliveryQueue.Delivery {
        let place = place ?? PostingPlace.next()
        self.place = place
        return DeliveryQueue.Delivery(
            stored: store(notification), posted: place, waitsSince: waitsSince)
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

// MARK: Notifications that wait

/// A place in posting order, among the posts of all centers that had to wait (D6, D9).
struct PostingPlace: Comparable, Sendable {
    private let number: UInt64

    private static let last = Atomic<UInt64>(0)

    static func next() -> PostingPlace {
        PostingPlace(number: last.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    static func < (one: PostingPlace, other: PostingPlace) -> Bool { one.number < other.number }
}

/// A notification that waits, as an object: a reference long, and shared by all observers of a
/// post.
/// SAFETY: the notification never changes. The notification passes from the posting thread to the
/// targets, as a user of Foundation's `queue:` expects.
final class StoredNotification: @unchecked Sendable {
    let notification: Notification

    init(_ notification: Notification) { self.notification = notification }
}
