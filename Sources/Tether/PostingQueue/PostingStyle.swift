extension PostingQueue {
    /// When a queued notification is posted.
    public enum PostingStyle: Sendable, CaseIterable {
        /// When the run loop is about to wait, or a run ends that had no time to.
        case whenIdle
        /// At the end of the run loop's current pass.
        case asap
        /// At once, by the call that enqueues it.
        case now
    }

    /// By what queued notifications are the same, so that a new one replaces the old ones.
    public struct NotificationCoalescing: OptionSet, Sendable, Hashable {
        /// The bits of the set.
        public let rawValue: UInt

        /// Makes a set of its bits.
        /// - Parameter rawValue: The bits: those of `onName` and `onSender`.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Nothing replaces anything.
        public static let none: NotificationCoalescing = []
        /// Notifications of one name are the same.
        public static let onName = NotificationCoalescing(rawValue: 1 << 0)
        /// Notifications of one sender are the same; those without a sender are too.
        public static let onSender = NotificationCoalescing(rawValue: 1 << 1)
    }
}
