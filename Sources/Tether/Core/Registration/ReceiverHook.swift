internal import Foundation

/// Ends a registration with an object, its receiver, that is not its owner: through a second registration, which is
/// attached to the receiver. Each of the two has such a hook, and ends the other.
///
/// The second one is in no center, and has no observer, so that it is not listed among the receiver's.
///
/// SAFETY: `other` is set before anyone else can reach the registration, and never changes after that.
final class ReceiverHook: RegistrationHook, @unchecked Sendable {
    private var other: UnownedReference<Registration>?

    /// Makes the second registration, attached to the receiver, which is not being deinitialised; before anyone else can
    /// reach the first one.
    func tie(_ first: Registration, to receiver: AnyObject) {
        let hook = ReceiverHook()
        hook.other = UnownedReference(first)
        let second = OwnedRegistration(outside: first.center, hook: hook, site: first.site)
        other = UnownedReference(second)
        _ = OwnerTable.shared.attach(nil, to: receiver, as: second, exactly: first.center.usesExactLifetimes)
    }

    override func ended(_ registration: Registration) { other?.memory.end(because: .receiverEnded) }
}
