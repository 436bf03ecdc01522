internal import COwnerLifetime
internal import Dispatch
internal import Foundation

/// The main actor as a target: a type of its own, for handlers isolated to the main actor, as in
/// `on: .mainActor` and `on: .mainActorAsync`.
public struct MainActorTarget: Sendable {
    /// The main actor. Delivers like `DeliveryTarget.main`.
    public static var mainActor: MainActorTarget { MainActorTarget(delivery: .main) }

    /// The main actor, always in a later turn. Delivers like `DeliveryTarget.mainAsync`.
    ///
    /// Combine's `receive(on: DispatchQueue.main)` does the same. The handler may change state that
    /// a view reads, because it runs after the view's update has ended.
    public static var mainActorAsync: MainActorTarget { MainActorTarget(delivery: .mainAsync) }

    let delivery: DeliveryTarget
}

/// The main queue, and a test of whether code runs there.
enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        return key
    }()

    /// Kept, because on Linux each request makes another wrapper.
    static let queue = DispatchQueue.main

    static func isMain(_ queue: DispatchQueue) -> Bool {
        !queue.isGlobal && queue.getSpecific(key: key) == true
    }

    /// Whether the caller is on the main queue.
    ///
    /// The thread is checked, because the main thread keeps main queue and main actor in a
    /// `queue.sync`. The queue is checked, because `dispatchMain`, `@main async` and the thread's
    /// exit move the queue off the main thread.
    static var isCurrent: Bool {
        tether_is_main_thread() && !tether_thread_is_exiting()
            || DispatchQueue.getSpecific(key: key) == true
    }
}

/// The main queue as a target: inline for a post from there, or always later (`.mainAsync`).
/// SAFETY: the class adds no property.
final class MainQueueTarget: BlockTarget, @unchecked Sendable {
    init(inline inlineRule: InlineRule = .unlessPending, isBatching: Bool = false) {
        super.init(
            queue: ObjectIdentifier(MainQueueTarget.self), isBatching: isBatching,
            inline: inlineRule)
    }

    override var description: String {
        inlineRule == .never ? "main, later" : "main\(batchingSuffix)"
    }

    override func schedule(_ block: __owned Block) { MainQueue.queue.submit(block) }

    override var isCurrent: Bool { MainQueue.isCurrent }

    /// Deliveries to `.mainAsync` are deferred on purpose, so no post waits behind them.
    override func waiting(in center: CenterCore) -> WaitingCount? {
        if inlineRule == .never { return nil }
        return center.waitingOnMain
    }
}
