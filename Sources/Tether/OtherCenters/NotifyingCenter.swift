public import Foundation

/// A center that accepts Tether's observers: `ObserverCenter`, or a center of another maker.
///
/// A conforming type registers a closure for a name and a sender. The `observe` methods of the
/// protocol add owners, targets, `once`, keys, cancelling and audits.
public protocol NotifyingCenter: AnyObject, Sendable {
    /// Registers a closure for a name (`nil`: any) and a sender (`nil`: any).
    ///
    /// Called without a lock of Tether. The closure may be called on any thread, also after its
    /// removal, and does nothing after the observer's end.
    ///
    /// A center keeps the closure until the removal, and does not retain the sender. An earlier
    /// release of the closure, as in the center's `deinit`, ends the observer. The returned
    /// registration should refer to the center weakly, or the observers keep the center.
    func register(
        name: Notification.Name?, sender: AnyObject?,
        handler: @escaping @Sendable (Notification) -> Void
    ) -> any NotifyingRegistration
}

/// The registration of a closure with a center. `cancel()` removes the closure.
public protocol NotifyingRegistration: Sendable {
    /// Removes the closure.
    ///
    /// Called once, some time after the observer's end, on a queue of Tether that holds no lock of
    /// a center. Not called if the center has released the closure on its own.
    func cancel()
}
