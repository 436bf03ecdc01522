public import Foundation

/// A center that Tether's observers can be registered with: `ObserverCenter`, or one of another maker.
///
/// A conforming type says how a closure is registered for a name and a sender; everything else, owners, targets,
/// `once`, keys, stopping and audits, comes with the `observe` methods, which are written once, for this protocol.
public protocol NotifyingCenter: AnyObject, Sendable {
    /// Registers a closure for a name (`nil`: any) and a sender (`nil`: any).
    ///
    /// Called with no lock of Tether's held. The closure may be called on any thread, and after its removal, and does
    /// nothing once its observer has ended.
    ///
    /// A center keeps the closure until it is taken off; one that lets it go before, as it does when the center goes, ends
    /// the observer. What this returns should refer to the center weakly, or the center lives as long as its observers.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not to be retained; `nil` for any.
    ///   - handler: The closure to call with each notification that matches.
    func register(
        name: Notification.Name?, sender: AnyObject?, handler: @escaping @Sendable (Notification) -> Void
    ) -> any NotifyingRegistration
}

/// The registration of a closure with a center, which takes it off again.
public protocol NotifyingRegistration: Sendable {
    /// Takes the closure off.
    ///
    /// Called once, some time after the observer has ended, on a queue of Tether's that holds no lock of any center; not
    /// at all if the center has let the closure go by itself.
    func cancel()
}
