public import Foundation

/// Foundation's center, with Tether's observers over it.
///
/// ```swift
/// let center = NotificationCenter.default
/// center.observe(.modelDidChange, owner: self, on: .mainActor) {
///     sidebar, note in
///     sidebar.reload(note)
/// }
/// ```
///
/// All `observe` methods, owners, targets, `once`, keys, cancelling, audits and leak checks work
/// here, despite the center's own rules. The article [Foundation's center and the system's
/// notifications](doc:Centers) has the table of the exceptions.
extension NotificationCenter: NotifyingCenter {
    /// Registers a closure, called on the posting thread, inside the post. Prefer the `observe`
    /// methods.
    public func register(
        name: Notification.Name?, sender: AnyObject?,
        handler: @escaping @Sendable (Notification) -> Void
    ) -> any NotifyingRegistration {
        FoundationRegistration(
            center: ObjectReference(self),
            token: addObserver(forName: name, object: sender, queue: nil, using: handler))
    }
}

#if canImport(ObjectiveC)

/// The center retains the token until the removal, and the token retains the closure. A strong
/// reference here would keep the closure after the center's end, and with it the observer.
private struct FoundationRegistration: NotifyingRegistration {
    private let center: ObjectReference<NotificationCenter>
    private let token: ObjectReference<AnyObject>

    init(center: ObjectReference<NotificationCenter>, token: any NSObjectProtocol) {
        self.center = center
        self.token = ObjectReference(token)
    }

    func cancel() {
        if let token = token.retained { center.retained?.removeObserver(token) }
    }
}

#else

/// SAFETY: the token never changes, and is only passed back to the center.
private struct FoundationRegistration: NotifyingRegistration, @unchecked Sendable {
    let center: ObjectReference<NotificationCenter>
    let token: any NSObjectProtocol

    func cancel() { center.retained?.removeObserver(token) }
}

#endif
