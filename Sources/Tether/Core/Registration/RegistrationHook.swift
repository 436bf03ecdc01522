internal import Foundation

/// A participant in a registration's life besides its handler: an async handler's task, the type of a message, a
/// sequence's buffer, the closure in a foreign center. Most registrations have none.
///
/// SAFETY: `next` is set before the registration is made, and never changes after that; subclasses answer for their own fields.
class RegistrationHook: @unchecked Sendable {
    /// The next hook of the same registration.
    final private(set) var next: RegistrationHook?

    /// Whether `prepare` is asked about every post.
    var prepares: Bool { false }

    /// Whether `prepare` is asked on the target as well, because it cannot convert elsewhere.
    var convertsOnTarget: Bool { false }

    /// The notification as the registration takes it; `nil` if it does not match after all.
    ///
    /// Called on the posting thread, before a once registration is claimed; and again on the target, where it converts
    /// there.
    func prepare(_ notification: Notification, for registration: Registration) -> Notification? { notification }

    /// Called once, when the registration is made.
    func attached(to registration: Registration) {}

    /// Called when the registration replaces one of the same name and sender by its key, whose state is still open, under the
    /// lock of the center's core.
    func takeOver(from old: Registration, for registration: Registration) {}

    /// Called once, when the registration has ended, with no lock held.
    func ended(_ registration: Registration) {}

    /// The name of the part that takes the deliveries in the target's place; `nil` if none does.
    var targetDescription: String? { nil }

    typealias Counts = (pending: Int, dropped: [DropReason: Int])

    /// How many deliveries it keeps for the registration, and how many it did not.
    var counts: Counts { (0, [:]) }

    // MARK: The list

    /// Puts this in front of others.
    final func followed(by next: RegistrationHook?) -> RegistrationHook {
        self.next = next
        return self
    }

    /// Calls `body` with this hook and all that follow it.
    final func visit(_ body: (RegistrationHook) -> Void) {
        var hook: RegistrationHook? = self
        while let known = hook {
            body(known)
            hook = known.next
        }
    }

    /// The first of this hook and those that follow it that satisfies a condition.
    final func first(where condition: (RegistrationHook) -> Bool) -> RegistrationHook? {
        condition(self) ? self : next?.first(where: condition)
    }
}
