@testable import Tether

extension NotificationObserver {
    /// The registration, held, as long as anything else holds it.
    var registration: Registration? { reference?.take() }
}
