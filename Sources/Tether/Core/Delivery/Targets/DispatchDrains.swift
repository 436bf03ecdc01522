internal import Dispatch

/// Drains on a dispatch queue.
struct DispatchDrains: DrainScheduler {
    let queue: DispatchQueue
    let isSerial: Bool

    /// Nobody else has the mailbox of a concurrent queue.
    var keepsMailbox: Bool { isSerial }

    func schedule(_ drain: Drain) { queue.async { drain.run() } }

    /// Where a queue itself keeps its mailbox: on Linux the same queue comes in many wrappers, so that identity is
    /// to be had from the queue only.
    private static let key = DispatchSpecificKey<Unretained<Mailbox>>()
    private static let lock = Guarded(0)

    /// The mailbox that all observers on a serial queue share.
    static func mailbox(of queue: DispatchQueue) -> Mailbox {
        lock.withLock { _ in
            if let known = queue.getSpecific(key: key)?.take() { return known }
            let made = Mailbox(scheduler: DispatchDrains(queue: queue, isSerial: true))
            queue.setSpecific(key: key, value: Unretained<Mailbox>(made))
            return made
        }
    }
}

extension DispatchQueue {
    /// Whether this is one of the global concurrent queues, which take no queue-specific values.
    ///
    /// Told by its label, because the same queue comes in many wrappers.
    var isGlobal: Bool {
        guard label.hasPrefix("com.apple.root.") else { return false }
        // Not covered: those that only C code can ask for, which make more threads than there are processors.
        let name = label.hasSuffix(".overcommit") ? String(label.dropLast(".overcommit".count)) : label
        return DispatchQueue.globalLabels.contains(name) || name == "com.apple.root.maintenance-qos"
    }

    private static let globalLabels = Set(
        [DispatchQoS.QoSClass.userInteractive, .userInitiated, .default, .utility, .background, .unspecified].map {
            DispatchQueue.global(qos: $0).label
        })
}
