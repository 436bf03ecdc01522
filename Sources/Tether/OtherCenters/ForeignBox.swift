internal import Foundation

/// All that a foreign center ever holds of an observer: what its closure captures.
///
/// It keeps no more than the registration's memory, as a post does: what a handler captured goes with its observer's end,
/// whatever thread the center has in here (R8).
final class ForeignBox: Sendable {
    private let core: CenterCore
    private let content: Guarded<Unretained<Registration>?>

    init(_ registration: Unretained<Registration>, of core: CenterCore) {
        self.core = core
        content = Guarded(registration)
    }

    deinit {
        guard let lost = content.withLock({ $0.take() }) else { return }
        if ForeignCenters.shared.hasEnded(core) {
            // Nobody can be inside a center that is going.
            RegistrationEvents.centerEnds(core) { core.close() }
        } else {
            // The center may hold its lock here, so that a registration which is still live is left to the cleaner.
            ForeignCleaner.shared.add(.lost(lost, of: core))
        }
    }

    func receive(_ notification: Notification) {
        guard let registration = content.withLock(\.self) else { return }
        core.deliver(notification, to: registration)
    }

    func empty() { set(nil) }

    func set(_ registration: Unretained<Registration>?) { content.withLock { $0 = registration } }
}
