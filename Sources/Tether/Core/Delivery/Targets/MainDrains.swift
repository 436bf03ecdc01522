internal import COwnerLifetime
internal import Dispatch
internal import Foundation

/// Drains on the main queue.
///
/// "On main" is asked of the thread, which has the main queue and the main actor in what it runs for another queue
/// (`queue.sync`), too; and of the queue, which does not stay on the main thread under `dispatchMain` and in `@main async`
/// programs.
struct MainDrains: DrainScheduler {
    static let mailbox = Mailbox(scheduler: MainDrains())

    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static func isMain(_ queue: DispatchQueue) -> Bool { !queue.isGlobal && queue.getSpecific(key: key) == true }

    func schedule(_ drain: Drain) { DispatchQueue.main.async { drain.run() } }

    var isSerial: Bool { true }
    var mayBeCurrent: Bool { true }
    var isCurrent: Bool {
        // A main thread that exits has handed the main queue on.
        Thread.isMainThread && !tether_thread_is_exiting() || DispatchQueue.getSpecific(key: MainDrains.key) == true
    }
}
