internal import COwnerLifetime
internal import Dispatch
internal import Foundation

/// The main actor as a target: a type of its own, so that it takes handlers isolated to the main actor.
///
/// ```swift
/// center.observe(.modelDidChange, owner: self, on: .mainActor) {
///     sidebar, _ in
///     sidebar.title = "Changed"
/// }
/// ```
public struct MainActorTarget: Sendable {
    /// The main actor. Delivers as `DeliveryTarget.main` does (D3, P1).
    public static let mainActor = MainActorTarget()
}

/// The main queue, and the question whether code runs on it.
enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static func isMain(_ queue: DispatchQueue) -> Bool { !queue.isGlobal && queue.getSpecific(key: key) == true }

    /// Whether the caller is on the main queue.
    ///
    /// The thread is asked, because it has the main queue and the main actor also in a `queue.sync`. The queue is asked, because
    /// under `dispatchMain` and in `@main async` programs it leaves the main thread. A main thread that exits has left it, too.
    static var isCurrent: Bool {
        Thread.isMainThread && !tether_thread_is_exiting() || DispatchQueue.getSpecific(key: key) == true
    }
}

/// The main queue as a target: inline if posted from it, or always later (`.mainAsync`).
final class MainQueueTarget: BoundTarget, @unchecked Sendable {
    init(_ target: DeliveryTarget, mayBeCurrent: Bool = true, isAlwaysInline: Bool = false) {
        super.init(
            target, place: ObjectIdentifier(MainQueueTarget.self), mayBeCurrent: mayBeCurrent,
            isAlwaysInline: isAlwaysInline)
    }

    override func schedule(_ block: Block) { DispatchQueue.main.async { block.run() } }

    override var isCurrent: Bool { MainQueue.isCurrent }
}
