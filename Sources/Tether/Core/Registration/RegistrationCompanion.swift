internal import Foundation

/// What a registration of messages, of an async sequence, or with an async handler has besides its handler; others have
/// none.
///
/// SAFETY: `drains` is set before the registration is made, `reference` before it is published, and neither changes after
/// that; subclasses answer for what they add.
class RegistrationCompanion: @unchecked Sendable {
    /// The task that calls an async handler.
    final var drains: TaskDrains?
    private var reference: OwnerReference<Registration>?

    /// The registration, as long as anything keeps it.
    final var registration: Registration? { reference?.take() }

    final func attach(to registration: Registration) {
        reference = OwnerReference(registration)
    }

    /// Whether `prepare` is asked about every post.
    var prepares: Bool { false }

    // Not covered: every companion that is asked overrides this.
    /// The notification as the registration takes it; `nil` if it does not match after all.
    ///
    /// Called on the posting thread, before a once registration is claimed; again on the main queue for what it had the
    /// inbox ask about there.
    func prepare(_ notification: Notification, for registration: Registration) -> Notification? { notification }

    /// Has the task of an async handler make a call; called where the registration is announced.
    final func call(_ work: @escaping @Sendable () async -> Void) {
        if let registration, let drains { drains.take(AsyncRun(of: registration, work)) }
    }

    /// Called once, when the registration has ended, with no lock held.
    ///
    /// The call of an async handler that is under way is cancelled, unless it is what ended the registration, or one that
    /// the sender's end leaves to be made (M5).
    func ended(_ registration: Registration) {
        guard let drains else { return }
        let hasSenderEnded = registration.details?.sender?.reference.hasEnded ?? false
        let hasEndedItself = registration.isClaimed || AsyncRun.isCurrent(for: registration.address)
        if !hasSenderEnded, !hasEndedItself { drains.cancel() }
    }

    /// What takes the deliveries in the target's place, in words; `nil` for the target.
    var targetDescription: String? { nil }

    /// What it keeps for the registration, and how many it did not.
    var counts: (pending: Int, dropped: Int) { (0, 0) }
}
