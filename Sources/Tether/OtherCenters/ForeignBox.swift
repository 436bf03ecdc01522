internal import Foundation

/// All that a foreign center ever holds of an observer: what its closure captures.
final class ForeignBox: Sendable {
    private let content: Guarded<Registration?>

    init(_ registration: Registration) {
        content = Guarded(registration)
    }

    deinit {
        // The center may hold its lock here. So a registration that is still live goes on with its reference, which must
        // not be the last one here.
        // SAFETY: taken back below, or by the removal.
        let reference = unsafe content.withLock { content in
            unsafe content.take().map { unsafe Unmanaged.passRetained($0) }
        }
        guard let lost = unsafe reference else { return }
        let core = unsafe lost._withUnsafeGuaranteedRef { $0.center }
        if ForeignCenters.shared.hasEnded(core) {
            // Nobody can be inside a center that is going.
            let lost = unsafe lost.takeRetainedValue()
            core.close()
            lost.end()
        } else {
            unsafe ForeignCleaner.shared.add(.lost(lost))
        }
    }

    func receive(_ notification: Notification) {
        guard let registration = content.withLock(\.self) else { return }
        registration.center.deliver(notification, to: registration)
    }

    /// Empties the box; what was in it is released after the lock.
    func empty() { set(nil) }

    func set(_ registration: Registration?) {
        let old = content.withLock { content in
            let old = content.take()
            content = registration
            return old
        }
        withExtendedLifetime(old) {}
    }
}
