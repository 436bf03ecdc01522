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
/// *Delivery*: on `.postingThread` a post calls the handler before it returns. Every other target is asynchronous: the
/// posting thread never waits. A post puts one block on each target, and the block keeps its place among all other work
/// there (contract D1-D4). A target retains its queue or scheduler as long as the observer lives. A queue must not be the
/// target of an observer that it owns, because neither would end.
///
/// *Thread safety*: a value; share it freely.
public struct DeliveryTarget: Sendable {
    enum Kind: Sendable {
        case postingThread
        case main
        case mainAsync
        /// The main queue. A post on the main thread calls the handler also if deliveries are pending.
        case mainAlwaysInline
        case operationQueue(OperationQueue)
        case dispatchQueue(DispatchQueue, concurrently: Bool)
        case custom(any DeliveryScheduler)
        case actor(any ActorReferring)
        case thread(ThreadLoop, modes: Set<RunLoop.Mode>)
        case task(AsyncHandler)
    }

    let kind: Kind
    /// Whether no block is submitted for an observer while one waits (D7).
    let isBatching: Bool
    /// Stored, because a look at the kind copies it.
    let isPoster: Bool

    init(kind: Kind, isBatching: Bool = false) {
        self.kind = kind
        self.isBatching = isBatching
        isPoster = if case .postingThread = kind { true } else { false }
    }

    /// Whether it is a thread, which delivers by its run loop.
    package var usesRunLoop: Bool { if case .thread = kind { true } else { false } }

    /// The posting thread, inside the post. The default.
    public static var postingThread: DeliveryTarget { DeliveryTarget(kind: .postingThread) }

    /// The main queue, however the program runs its main thread: at once if posted from there.
    ///
    /// Posted to from the main queue it calls the handler inside the post, unless a delivery of this observer is pending
    /// (D3). `.dispatchQueue(.main)` and `.operationQueue(.main)` are the same target.
    public static var main: DeliveryTarget {
        // Computed, because under -cross-module-optimization a client reads a stored one without its initializer.
        DeliveryTarget(kind: .main)
    }

    /// The main queue, always in a later turn of it, also if posted from there (D3).
    ///
    /// `receive(on: DispatchQueue.main)` does the same in Combine. The handler runs after the update of a view has ended.
    public static var mainAsync: DeliveryTarget { DeliveryTarget(kind: .mainAsync) }

    /// An operation queue: one operation for each post (D2).
    ///
    /// A queue whose `maxConcurrentOperationCount` is 1 when it becomes the target is serial. Any other may run the handlers
    /// of several posts at the same time, but never one observer's handler twice. Cancelling an operation drops and counts its
    /// deliveries.
    /// - Parameters:
    ///   - queue: The queue, which is retained as long as the observer lives. `OperationQueue.main` is `.main`.
    ///   - batching: Whether a burst costs one operation: none is added while one of this observer waits. Deliveries may
    ///     then run ahead of other operations (D7).
    public static func operationQueue(_ queue: OperationQueue, batching: Bool = false) -> DeliveryTarget {
        DeliveryTarget(kind: queue === OperationQueue.main ? .main : .operationQueue(queue), isBatching: batching)
    }

    /// A dispatch queue: one block for each post (D2).
    ///
    /// A dispatch queue does not say whether it is concurrent. With `concurrently: true` each observer's deliveries keep
    /// posting order on a concurrent queue, and never overlap. Global queues are known to be concurrent.
    /// - Parameters:
    ///   - queue: The queue, which is retained as long as the observer lives. `DispatchQueue.main` is `.main`.
    ///   - concurrently: Whether the queue is concurrent.
    ///   - batching: Whether a burst costs one wake-up: no block is submitted while one of this observer waits. Deliveries may
    ///     then run ahead of other work on the queue (D7).
    public static func dispatchQueue(
        _ queue: DispatchQueue, concurrently: Bool = false, batching: Bool = false
    ) -> DeliveryTarget {
        DeliveryTarget(
            kind: MainQueue.isMain(queue)
                ? .main : .dispatchQueue(queue, concurrently: concurrently || queue.isGlobal), isBatching: batching)
    }

    /// A scheduler of your own. All observers that are given the same instance share one order.
    /// - Parameter scheduler: The scheduler, which is held as long as the observer lives.
    public static func custom(_ scheduler: any DeliveryScheduler) -> DeliveryTarget {
        DeliveryTarget(kind: .custom(scheduler))
    }
}

extension DeliveryTarget: CustomStringConvertible {
    /// The target's kind and, where it has one, its queue's name.
    public var description: String {
        switch kind {
        case .postingThread: "posting thread"
        case .main, .mainAlwaysInline: "main\(isBatching ? ", batching" : "")"
        case .mainAsync: "main, later"
        case .operationQueue(let queue):
            "operation queue \(queue.name.flatMap { $0.isEmpty ? nil : $0 } ?? "without a name")\(isBatching ? ", batching" : "")"
        case .dispatchQueue(let queue, let concurrently):
            "dispatch queue \(queue.label)\(concurrently ? ", concurrently" : "")\(isBatching ? ", batching" : "")"
        case .custom(let scheduler): "custom \(type(of: scheduler))"
        case .actor(let actor): actor.description
        case .task: "task"
        case .thread(let loop, let modes):
            loop.description + (modes == [.common] ? "" : ", modes \(modes.map(\.rawValue).sorted())")
        }
    }
}
