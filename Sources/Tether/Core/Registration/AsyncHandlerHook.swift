/// The task of a registration with an async handler.
///
/// SAFETY: `reference` is set before the registration is published, and never changes after that.
final class AsyncHandlerHook: RegistrationHook, @unchecked Sendable {
    let drains = TaskDrains()
    private var reference: UnownedReference<Registration>?

    override func attached(to registration: Registration) { reference = UnownedReference(registration) }

    /// Has the task, which is on the handler's actor, make a call; called where the registration is announced.
    func call(_ work: @escaping AsyncRun.Work) {
        if let registration = reference?.take() {
            let work = TraceEvent.isOn ? registration.traced(work) : work
            drains.take(AsyncRun(of: registration, isOnMain: MainDrains().isCurrent, work))
        }
    }

    /// The call that is under way is cancelled, unless it is what ended the registration, or one that the sender's end
    /// leaves to be made (M5).
    override func ended(_ registration: Registration) {
        let hasSenderEnded = registration.details?.sender?.reference.hasEnded ?? false
        let hasEndedItself = registration.isClaimed || AsyncRun.isCurrent(for: registration.address)
        drains.end(cancelling: !hasSenderEnded && !hasEndedItself)
    }
}
