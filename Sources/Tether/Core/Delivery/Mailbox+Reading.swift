internal import Foundation

// What audits and leak checks read of an observer's pending deliveries. Each read is one critical
// section of the observer's lock, so a report is of one moment (L1).

extension Mailbox {
    /// Returns the results of `body` for the pending notifications, oldest first, and for the kept
    /// one. `body` is called under the lock, so the caller never releases the last reference to a
    /// notification.
    func mapNotifications<Result: Sendable>(_ body: @Sendable (Notification) -> Result) -> [Result]
    {
        state.withLock { state in
            let deliveries = state.hasPending ? state.queue.deliveries : []
            var results = deliveries.map { body($0.stored.notification) }
            if let kept = state.kept {
                results.append(body(kept.stored.notification))
            }
            return results
        }
    }

    struct Report {
        /// The reader of the report describes the target, because the user's code may compute the
        /// name of a queue.
        var target = DeliveryTarget.postingThread
        var pending = 0
        var kept = 0
        var drops = DropCounts()
        var muted = 0
    }

    /// The report, and the hook's counts at the same moment: an element on the way between the two
    /// is in one of them at most.
    func report(with hook: RegistrationHook?) -> (Report, RegistrationHook.Counts) {
        state.withLock { state in
            var report = Report(
                target: DeliveryTarget(state.destination.lastSetTarget), pending: state.pendingCount
            )
            if state.hasExtras {
                report.kept = state.kept == nil ? 0 : 1
                report.drops = state.extras.drops
                report.muted = state.extras.muting.count
            }
            return (report, hook?.counts ?? RegistrationHook.noCounts)
        }
    }

    /// Whether deliveries wait on the caller's own target.
    var waitsForCaller: Bool {
        state.withLock { $0.hasPending && $0.destination.isCurrent }
    }
}
