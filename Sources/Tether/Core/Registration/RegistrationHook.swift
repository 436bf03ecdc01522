internal import Foundation

/// A participant in a registration's life besides its handler: an async handler's task, a message
/// type, a sequence's buffer, the closure in a foreign center, or the work of an owner. Most
/// registrations have no hook.
///
/// SAFETY: subclasses protect their fields.
class RegistrationHook: @unchecked Sendable {
    /// The next hook of the same registration. Set before the registration is made.
    final var nextHook: RegistrationHook?

    /// Whether `prepare` is called for every post.
    var prepares: Bool { false }

    /// Whether `prepare` is also called on the target, because the hook cannot convert elsewhere.
    var convertsOnTarget: Bool { false }

    /// The notification as the registration takes it; `nil` if the notification does not match
    /// after all. Called on the posting thread, before the claim of a once registration. If the
    /// hook converts on the target, called there again.
    func prepare(_ notification: Notification, for registration: Registration) -> Notification? {
        notification
    }

    func attached(to registration: Registration) {}

    /// Whether a call of the handler goes on when the handler's closure has returned. The hook then
    /// ends a once registration after the call.
    var callsReturnLater: Bool { false }

    /// The owner's work whose registration this is; `nil` for an observer, and for the registration
    /// of a `WatchedObject`.
    var work: OwnedWork? { nil }

    /// Begins a graceful end of an owner's work (R11).
    func beginFinishing(_ registration: Registration) { registration.end(because: .finished) }

    /// Whether the work of an owner runs on the main actor.
    var needsMainActor: Bool { false }

    /// The registration of the loop that takes the deliveries of a sequence, if an owner has one.
    var reader: Unowned<Registration>? { nil }

    /// Called once, when the registration has ended, with no lock held.
    func ended(_ registration: Registration, because cause: EndCause) {}

    /// What an audit shows in place of the target: the name of a sequence, or of an owner's work;
    /// `nil` for other hooks.
    var targetDescription: String? { nil }

    typealias Counts = (pending: Int, drops: DropCounts)
    static let noCounts = Counts(0, DropCounts())

    /// The number of deliveries that the hook keeps for the registration, and the numbers of its
    /// drops.
    var counts: Counts { RegistrationHook.noCounts }
}

/// The hooks of a registration: a list through the hooks, so nearly all lists need no memory.
struct RegistrationHooks: Sequence, IteratorProtocol {
    private var rest: RegistrationHook?

    init(_ first: RegistrationHook?) { rest = first }

    mutating func next() -> RegistrationHook? {
        let hook = rest
        rest = hook?.nextHook
        return hook
    }
}

/// Work that ends with an owner, and is no observer.
package enum OwnedWork: Sendable {
    /// `Task(owner:)`.
    case task
    /// The task of `observe(owner:)` of an async sequence.
    case loop
    /// The closure of `OwnerLifetime.whenEnded(_:_:)`.
    case closure
}

extension Registration {
    /// The hook of the registration's work; `nil` for an observer, and for a `WatchedObject`.
    final var workHook: RegistrationHook? { details?.hooks.first { $0.work != nil } }

    /// What an audit shows in the target's place: a sequence, or the work of an owner.
    final var targetStandIn: RegistrationHook? {
        details?.hooks.first { $0.targetDescription != nil }
    }
}
