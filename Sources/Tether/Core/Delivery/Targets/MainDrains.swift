internal import Dispatch

/// Drains on the main queue.
///
/// "On main" is asked of the main queue and not of the thread: under `dispatchMain` and in `@main async` programs the
/// main queue does not stay on the main thread.
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
    var isCurrent: Bool { DispatchQueue.getSpecific(key: MainDrains.key) == true }
}
