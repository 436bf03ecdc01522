internal import Foundation

/// A request whose handler is async: the target is a task of the observer's own.
struct AsyncObservationRequest {
    private(set) var request: ObservationRequest
    /// What the handler captures, because the request holds the sender.
    let companion: RegistrationCompanion

    private init(_ request: (DeliveryTarget) -> ObservationRequest) {
        let drains = TaskDrains()
        self.request = request(DeliveryTarget(kind: .task(drains)))
        companion = self.request.companion ?? RegistrationCompanion()
        companion.drains = drains
        self.request.companion = companion
    }

    /// Notifications.
    init<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender, once: Bool, key: (any Hashable)?, at file: StaticString,
        _ line: UInt, call: StaticString = #function
    ) {
        self.init {
            ObservationRequest(
                name, from: sender, on: $0, isIsolated: true, once: once, key: key, at: file, line, call: call)
        }
    }

    /// Async messages.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    init<Message: NotificationCenter.AsyncMessage, Subject: AnyObject>(
        _ type: Message.Type, of subject: Subject, once: Bool, key: (any Hashable)?, at file: StaticString,
        _ line: UInt, call: StaticString = #function
    ) {
        self.init {
            ObservationRequest(
                type, of: subject, on: $0, isIsolated: true, once: once, key: key, at: file, line, call: call)
        }
    }
}
