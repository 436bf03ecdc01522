/// The registration of a closure with a center, which takes it off again.
public protocol NotifyingRegistration: Sendable {
    /// Takes the closure off.
    ///
    /// Called once, some time after the observer has ended, on a queue of Tether's that holds no lock of any center; not
    /// at all if the center has let the closure go by itself.
    func cancel()
}
