public import Dispatch
public import Foundation

/// Where an observer's handler runs.
///
/// ```swift
/// let token = center.observe(.modelDidChange, on: .main) { note in
///     catalog.update(note)
/// }
/// token.target = .dispatchQueue(work)   // of a live observer
/// ```
///
/// *Delivery*: on `.postingThread` a post calls the handler before the post returns. On every other
/// target the posting thread never waits. Except for a scheduler that runs its job at once, only a
/// post that is made on `.main`, `.currentThread` or `.thread` itself calls the handler at once: if
/// no delivery of the center waits there, or if a handler makes the post and the observer itself
/// has no pending delivery. For a thread the deliveries of all centers count. A post puts one block
/// on each target, and the block keeps its place among all other work there. A target retains a
/// queue or scheduler as long as the observer lives. A queue must not be the target of an observer
/// that the queue owns, because neither would end.
///
/// *Thread safety*: a value; share it freely.
public struct DeliveryTarget: Sendable, CustomStringConvertible {
    /// `nil` for the posting thread. An observer takes a copy.
    let blockTarget: BlockTarget?

    init(_ blockTarget: BlockTarget?) { self.blockTarget = blockTarget }

    var isPostingThread: Bool { blockTarget == nil }
    package var usesRunLoop: Bool { blockTarget is RunLoopTarget }
    package var runsTasks: Bool { blockTarget?.runsTasks ?? false }

    /// The posting thread, inside the post. The default.
    public static var postingThread: DeliveryTarget { DeliveryTarget(nil) }

    /// The main queue, in every form of main program: at once for a post from there.
    ///
    /// A post from the main queue calls the handler inside the post, unless a delivery of the
    /// center waits there: what was posted first is handled first. `.dispatchQueue(.main)` and
    /// `.operationQueue(.main)` are the same target.
    public static var main: DeliveryTarget {
        // Computed, because -cross-module-optimization lets a client read a stored property without
        // its initializer.
        DeliveryTarget(MainQueueTarget())
    }

    /// The main queue, always in a later turn, also for a post from there.
    ///
    /// Combine's `receive(on: DispatchQueue.main)` does the same. The handler runs after a view's
    /// update has ended.
    public static var mainAsync: DeliveryTarget { DeliveryTarget(MainQueueTarget(inline: .never)) }

    /// An operation queue: one operation for each post; on a concurrent queue, for each observer of
    /// a post.
    ///
    /// A queue whose `maxConcurrentOperationCount` is 1 when the queue becomes the target is
    /// serial. Any other queue may run the handlers of several posts at the same time, but never
    /// one observer's handler twice. Cancelling an operation that has not begun drops and counts
    /// the deliveries.
    /// - Parameters:
    ///   - queue: The queue; `OperationQueue.main` is `.main`.
    ///   - batching: Whether a burst costs one operation: an observer adds none while one waits, so
    ///     deliveries may run ahead of other operations.
    public static func operationQueue(_ queue: OperationQueue, batching: Bool = false)
        -> DeliveryTarget
    {
        DeliveryTarget(
            queue === OperationQueue.main
                ? MainQueueTarget(isBatching: batching)
                : OperationQueueTarget(queue, isBatching: batching))
    }

    /// A dispatch queue: one block for each post; with `concurrently: true`, and on a global queue,
    /// one for each observer of a post.
    ///
    /// A dispatch queue does not say whether it is concurrent. With `concurrently: true` an
    /// observer's deliveries keep posting order on a concurrent queue, and never overlap. Global
    /// queues are known to be concurrent.
    /// - Parameters:
    ///   - queue: The queue; `DispatchQueue.main` is `.main`.
    ///   - concurrently: Whether the queue is concurrent.
    ///   - batching: Whether a burst costs one block, as for an operation queue.
    public static func dispatchQueue(
        _ queue: DispatchQueue, concurrently: Bool = false, batching: Bool = false
    ) -> DeliveryTarget {
        DeliveryTarget(
            MainQueue.isMain(queue)
                ? MainQueueTarget(isBatching: batching)
                : DispatchQueueTarget(
                    queue, isConcurrent: concurrently || queue.isGlobal, isBatching: batching))
    }

    /// A scheduler of your own. All observers with the same instance share one order.
    public static func custom(_ scheduler: any DeliveryScheduler) -> DeliveryTarget {
        .init(CustomTarget(scheduler))
    }

    /// The target's kind and, if any, the queue's name.
    public var description: String { blockTarget?.description ?? "posting thread" }
}
