internal import Dispatch
internal import Foundation

/// The place of the blocks, and the way to the place: the content of a `DeliveryTarget`, and an
/// observer's target.
///
/// This class itself is the posting thread. Each subclass puts blocks on one kind of queue. A
/// target has no queue and no lock of its own: the place decides the order (D4).
/// SAFETY: every property is a constant; subclasses answer for further properties.
class BoundTarget: @unchecked Sendable {
    /// The pending deliveries that a block takes; see `PendingDeliveries`.
    enum Order { case serial, concurrent, batch }

    /// Whether a post on the target calls the handler there.
    enum Inline {
        case never
        /// Unless a delivery of the observer is pending (D3).
        case unlessPending
        /// Also if deliveries are pending (T3).
        case always
    }

    static let postingThread = BoundTarget(
        place: ObjectIdentifier(BoundTarget.self), .unlessPending)

    /// The identity of the queue. A post makes one block for each place. A switch within a place
    /// changes nothing, so parameters of `schedule` belong to the place.
    final let place: ObjectIdentifier
    final let order: Order
    final let isInline: Inline

    init(
        place: ObjectIdentifier, isConcurrent: Bool = false, isBatching: Bool = false,
        _ isInline: Inline = .never
    ) {
        self.place = place
        order = isBatching ? .batch : isConcurrent ? .concurrent : .serial
        self.isInline = isInline
    }

    /// As in `DeliveryTarget.description`. May call the user's code.
    var description: String { "posting thread" }

    final var batchingSuffix: String { order == .batch ? ", batching" : "" }

    /// The target when it becomes an observer's, or a value again. May call the user's code.
    func copy(forObserver: Bool) -> BoundTarget { self }

    /// Puts a block on the queue. May call the user's code. `Post.submit` comes last to a target
    /// that may run the block at once. `__owned` gives the block away without a retain, and unlike
    /// `consuming` lets a closure capture it.
    func schedule(_ block: __owned Block) {}

    /// Whether the caller is where the blocks run. A post asks only if `isInline` is not `.never`.
    var isCurrent: Bool { isInline != .never }
    final var isPostingThread: Bool { self === BoundTarget.postingThread }

    /// Whether the blocks of both run in one place. The kind counts, too: one object may be actor
    /// and scheduler.
    @inline(__always)
    final func hasPlace(of other: BoundTarget) -> Bool {
        place == other.place && type(of: self) == type(of: other)
    }

    /// Whether a switch between the two targets changes nothing.
    final func isSame(as other: BoundTarget) -> Bool {
        hasPlace(of: other) && order == other.order && isInline == other.isInline
    }
}
