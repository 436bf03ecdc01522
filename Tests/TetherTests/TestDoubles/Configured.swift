import Tether

/// An observer without an owner that is configured once.
func configured(
    for center: any NotifyingCenter, _ configure: (NotificationObserver) -> Void
) -> NotificationObserver {
    let observer = NotificationObserver(center: center)
    configure(observer)
    return observer
}
