internal import Foundation

/// What a registration of messages, or of an async sequence, has besides its handler; others have none.
///
/// SAFETY: `reference` is set before the registration is published and never changes after it; subclasses answer for
/// what they add.
class RegistrationCompanion: @unchecked Sendable {
    private var reference: OwnerReference<Registration>?

    /// The registration, as long as anything keeps it.
    final var registration: Registration? { reference?.take() }

    final func attach(to registration: Registration) {
        reference = OwnerReference(registration)
    }

    /// Whether `prepare` is asked about every post.
    var prepares: Bool { true }

    // Not covered: every companion that is asked overrides this.
    /// The notification as the registration takes it; `nil` if it does not match after all.
    ///
    /// Called on the posting thread, before a once registration is claimed; again on the main queue for what it had the
    /// inbox ask about there.
    func prepare(_ notification: Notification, for registration: Registration) -> Notification? { notification }

    /// Called once, when the registration has ended, with no lock held.
    func ended(_ registration: Registration) {}

    /// What it keeps for the registration, and how many it did not.
    var counts: (pending: Int, dropped: Int) { (0, 0) }
}
