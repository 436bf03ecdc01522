internal import Dispatch
internal import Foundation
internal import Synchronization

/// The number of deliveries that wait at a place where posts call handlers inline. While there are
/// any, a post that begins at the place appends, too, unless a handler makes it. So no other post
/// there is handled before an earlier one (D3). See `Overtaking`. Targets that are always inline do
/// not ask.
///
/// Counted are deliveries, and not blocks: the blocks of an ended observer hold up nothing. Each
/// observer adds and subtracts under its own lock. A posting thread that knows of an earlier post
/// is ordered behind that post, and so behind the addition. So the accesses need no order of their
/// own.
final class WaitingCount: Sendable {
    private let count = Atomic<Int>(0)

    var isZero: Bool { count.load(ordering: .relaxed) == 0 }

    func add(_ number: Int) { count.wrappingAdd(number, ordering: .relaxed) }
}

/// A target that takes blocks: the content of a `DeliveryTarget`, and an observer's target. The
/// posting thread takes no blocks, and is `nil` in both.
///
/// Each subclass puts blocks on one kind of queue, whose order is the order of the deliveries (D4).
/// `AsyncHandlerTarget` and `ThreadLoop.Line` keep a list of the blocks, too.
/// SAFETY: every property is a constant; subclasses answer for further properties.
class BlockTarget: @unchecked Sendable {
    /// Whether a post on the target calls the handler there.
    enum InlineRule {
        case never
        /// Unless a delivery of the observer is pending, or another delivery waits at the place
        /// (D3). `Mailbox.isInline` has the exceptions.
        case unlessPending
        /// Also if deliveries are pending (T3).
        case always

        /// The rule of a target; `nil` for the posting thread.
        init(of target: BlockTarget?) {
            if let target {
                self = target.inlineRule
            } else {
                self = .unlessPending
            }
        }
    }

    /// Where blocks run. The kind counts, too: one object may be actor and scheduler.
    struct Place: Hashable {
        let queue: ObjectIdentifier
        let kind: ObjectIdentifier
    }

    /// The identity of the queue. Targets of one place may share a block, so two targets whose
    /// `schedule` differs, as by run loop modes, must differ here.
    private final let queueIdentity: ObjectIdentifier
    final let order: DeliveryOrder
    /// Whether one block calls all observers of a post here, one after the other. Otherwise each
    /// observer has blocks of its own.
    final let sharesBlocks: Bool
    final let inlineRule: InlineRule

    init(
        queue: ObjectIdentifier, order: DeliveryOrder, sharesBlocks: Bool,
        inline inlineRule: InlineRule = .never
    ) {
        queueIdentity = queue
        self.order = order
        self.sharesBlocks = sharesBlocks
        self.inlineRule = inlineRule
    }

    /// A queue that keeps the places of its blocks.
    init(
        queue: ObjectIdentifier, isConcurrent: Bool = false, isBatching: Bool = false,
        inline inlineRule: InlineRule = .never
    ) {
        queueIdentity = queue
        order = BlockTarget.order(isConcurrent: isConcurrent, isBatching: isBatching)
        sharesBlocks = !isConcurrent
        self.inlineRule = inlineRule
    }

    private static func order(isConcurrent: Bool, isBatching: Bool) -> DeliveryOrder {
        if isBatching { return .batch }
        return isConcurrent ? .concurrent : .serial
    }

    /// As in `DeliveryTarget.description`. May call the user's code.
    var description: String { "target" }

    final var batchingSuffix: String { order == .batch ? ", batching" : "" }

    /// The target for the observer, or an owner's observers, of one call: it may look at the queue
    /// again, or keep a run loop open. May call the user's code.
    func copyForObserver() -> BlockTarget { self }

    /// The target of an observer as a value, which keeps no run loop open. May call the user's
    /// code.
    func copyForValue() -> BlockTarget { self }

    /// Puts a block on the queue, which leads to one `run`, `runNestable` or `drop` of the block.
    /// May call the user's code. `__owned` gives the block away without a retain, and unlike
    /// `consuming` lets a closure capture it.
    func schedule(_ block: __owned Block) {
        assertionFailure("A target overrides `schedule`.")
        block.drop()
    }

    /// Whether `schedule` may run the block at once. Such blocks are submitted last.
    var mayRunInSchedule: Bool { false }

    /// Whether blocks run in tasks, which nearly always need a thread of Swift's tasks to begin.
    var runsTasks: Bool { false }

    /// Whether the caller is where the blocks run. A post asks only if `inlineRule` is not
    /// `.never`. Called under the lock of the mailbox, so it calls no code of the
    /// user's, and takes leaf locks only.
    var isCurrent: Bool { false }

    /// The deliveries that wait at the place for observers whose posts may be inline: the center's
    /// own, or on a run loop those of all centers; `nil` for `.never`. Called under the lock of the
    /// pending deliveries, too.
    func waiting(in center: CenterCore) -> WaitingCount? { nil }

    final var place: Place { Place(queue: queueIdentity, kind: ObjectIdentifier(type(of: self))) }

    /// Whether the blocks of both run in one place.
    @inline(__always)
    final func hasPlace(of other: BlockTarget) -> Bool {
        queueIdentity == other.queueIdentity && type(of: self) == type(of: other)
    }

    /// Whether one block may call observers on both.
    @inline(__always)
    final func sharesBlockAtPlace(of other: BlockTarget) -> Bool {
        sharesBlocks && other.sharesBlocks && hasPlace(of: other)
    }

    /// Whether a switch between the two targets changes nothing.
    final func isSame(as other: BlockTarget) -> Bool {
        hasPlace(of: other) && order == other.order && sharesBlocks == other.sharesBlocks
            && inlineRule == other.inlineRule
    }
}
