internal import Foundation

/// The link between an observer and a foreign center: it ends without a call of that center (F2).
///
/// All that the center gets is a closure with a box in it. The observer's end empties the box; the closure is taken off
/// later, by `ForeignCleaner`, where none of the center's locks can be held. And the box's own end tells that the center
/// let the closure go unasked.
///
/// SAFETY: all that it adds is under the lock.
final class ForeignReceiver: RegistrationHook, @unchecked Sendable {
    private struct State: ~Copyable, Sendable {
        /// Lives as long as the center has the closure.
        var box: OwnerReference<ForeignBox>?
        /// The removal of the closure, which is called at most once, by whoever takes it from here.
        var cancellation: (any NotifyingRegistration)?
        var hasEnded = false
    }

    private let core: CenterCore
    private let state = Guarded(State())

    init(of core: CenterCore) {
        self.core = core
    }

    /// Whether the center has a closure, emptied or not.
    var isKept: Bool { state.withLock { $0.box?.take() } != nil }

    /// Registers with the center, unless the observer has ended, or the center has a closure of it: one that it has taken
    /// over, or got when an earlier one had been lost.
    func connect(
        _ registration: Unretained<Registration>, with center: any NotifyingCenter, name: Notification.Name?,
        sender: AnyObject?
    ) {
        let box = ForeignBox(registration, of: core)
        // Neither another's box nor the cancellation of a closure that the center lost is to go under the lock.
        let (isOpen, forgone) = state.withLock { state -> (Bool, (ForeignBox?, (any NotifyingRegistration)?)) in
            let known = state.box?.take()
            if state.hasEnded || known != nil { return (false, (known, nil)) }
            state.box = OwnerReference(box)
            return (true, (nil, state.cancellation.take()))
        }
        withExtendedLifetime(forgone) {}
        guard isOpen else { return box.empty() }
        let cancellation = center.register(name: name, sender: sender) { [box] notification in
            box.receive(notification)
        }
        let hasEnded = state.withLock { state in
            state.cancellation = cancellation
            return state.hasEnded
        }
        if hasEnded { ForeignCleaner.shared.add(.emptied(self)) }
        // Until the cancellation is known, or one that was lost meanwhile would be taken off in its successor's place.
        withExtendedLifetime(box) {}
    }

    /// The link of a registration, if its center is a foreign one.
    static func of(_ registration: Registration) -> ForeignReceiver? {
        registration.details?.hooks?.first { $0 is ForeignReceiver } as? ForeignReceiver
    }

    /// Takes the closure over: what a post calls once delivers to exactly one of the two (M7).
    override func takeOver(from old: Registration, for registration: Registration) {
        // What has one closure takes no other over, where a key and a property replace two: that one's own end takes it off.
        // Not covered: the first, because every registration of a foreign center has a link.
        guard let old = ForeignReceiver.of(old), !state.withLock({ $0.cancellation != nil }) else { return }
        let (box, cancellation) = old.state.withLock { state -> (ForeignBox?, (any NotifyingRegistration)?) in
            // An observer that has not been registered yet registers for nothing, and takes itself off.
            guard !state.hasEnded, state.cancellation != nil, let box = state.box?.take() else { return (nil, nil) }
            // Its end follows, and until then it is not to register another closure, which its thread may come to just now.
            state.hasEnded = true
            state.box = nil
            return (box, state.cancellation.take())
        }
        guard let box, let cancellation else { return }
        state.withLock { state in
            state.box = OwnerReference(box)
            state.cancellation = cancellation
        }
        box.set(Unretained(registration))
    }

    override func ended(_ registration: Registration) {
        end()
        registration.center.foreignCenter.map(ForeignCenters.shared.release)
    }

    /// Ends the connection: empties the box.
    func end() {
        let (box, isRegistered) = state.withLock { state in
            state.hasEnded = true
            return (state.box?.take(), state.cancellation != nil)
        }
        box?.empty()
        if isRegistered { ForeignCleaner.shared.add(.emptied(self)) }
    }

    /// Takes the closure off, if the center still has it: what takes off one that is gone may take off a stranger.
    func takeOff() {
        let (cancellation, box) = state.withLock { ($0.cancellation.take(), $0.box?.take()) }
        if box != nil { cancellation?.cancel() }
    }
}
