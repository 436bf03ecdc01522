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
/// *Delivery*: on `.poster` a post calls the handler and returns after it. Every other target is asynchronous: the
/// poster never waits, deliveries from one poster run in posting order across all observers of a serial target, and a
/// burst of posts costs one wake-up (contract [D1](doc:Contract#D1)-[D4](doc:Contract#D4), [D7](doc:Contract#D7)). A
/// target holds its queue or scheduler as long as the observer lives. So none can be the target of an observer that it
/// owns: neither would end, unless the observer is stopped.
///
/// *Thread safety*: a value; share it freely.
public struct DeliveryTarget: Sendable {
    enum Kind: Sendable {
        case poster
        case main
        case operationQueue(OperationQueue)
        case dispatchQueue(DispatchQueue, concurrently: Bool)
        case custom(any DeliveryScheduler)
        case actor(any ActorReferring)
        case thread(ThreadLoop, modes: Set<RunLoop.Mode>)
        /// The main queue, where what is posted there never waits for what is pending.
        case mainAtOnce
        case task(TaskDrains)
    }

    let kind: Kind
    /// Stored, because a look at the kind copies it.
    let isPoster: Bool

    init(kind: Kind) {
        self.kind = kind
        isPoster = if case .poster = kind { true } else { false }
    }

    /// Whether it is a thread, which delivers by its run loop.
    package var usesRunLoop: Bool { if case .thread = kind { true } else { false } }

    /// The posting thread, inside the post. The default.
    public static var poster: DeliveryTarget { DeliveryTarget(kind: .poster) }

    /// The main queue, however the program runs its main thread.
    ///
    /// Posted to from the main queue it delivers inline, unless something is already pending there
    /// ([D3](doc:Contract#D3)). `.dispatchQueue(.main)` and `.operationQueue(.main)` are the same target.
    public static var main: DeliveryTarget {
        // Computed, because under -cross-module-optimization a client reads a stored one without its initializer.
        DeliveryTarget(kind: .main)
    }

    /// An operation queue.
    ///
    /// A queue whose `maxConcurrentOperationCount` is 1 when the target is given to an observer is serial; any other
    /// runs different observers at the same time, never one observer's handler twice at a time. Cancelling the queue's
    /// operations drops what is pending, counted in the audit, and nothing that is posted later
    /// ([D2](doc:Contract#D2)).
    /// - Parameter queue: The queue, which is held as long as the observer lives. `OperationQueue.main` is `.main`.
    public static func operationQueue(_ queue: OperationQueue) -> DeliveryTarget {
        queue === OperationQueue.main ? .main : DeliveryTarget(kind: .operationQueue(queue))
    }

    /// A dispatch queue.
    ///
    /// A dispatch queue does not tell whether it is concurrent: with `concurrently: true` different observers run at
    /// the same time there, never one observer's handler twice at a time. Global queues always do so.
    /// - Parameters:
    ///   - queue: The queue, which is held as long as the observer lives. `DispatchQueue.main` is `.main`.
    ///   - concurrently: Whether different observers may run at the same time, on a queue that is concurrent.
    public static func dispatchQueue(_ queue: DispatchQueue, concurrently: Bool = false) -> DeliveryTarget {
        MainDrains.isMain(queue)
            ? .main : DeliveryTarget(kind: .dispatchQueue(queue, concurrently: concurrently || queue.isGlobal))
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
        case .poster: "poster"
        case .main, .mainAtOnce: "main"
        case .operationQueue(let queue):
            "operation queue \(queue.name.flatMap { $0.isEmpty ? nil : $0 } ?? "without a name")"
        case .dispatchQueue(let queue, let concurrently):
            "dispatch queue \(queue.label)\(concurrently ? ", concurrently" : "")"
        case .custom(let scheduler): "custom \(type(of: scheduler))"
        case .actor(let actor): actor.description
        case .task: "task"
        case .thread(let loop, let modes):
            loop.description + (modes == [.common] ? "" : ", modes \(modes.map(\.rawValue).sorted())")
        }
    }
}
