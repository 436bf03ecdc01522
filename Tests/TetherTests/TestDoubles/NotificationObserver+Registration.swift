@testable import Tether

extension NotificationObserver {
    /// The retained registration, or `nil` after its deallocation.
    var registration: Registration? { reference?.retained }
}
