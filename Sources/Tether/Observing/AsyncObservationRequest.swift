internal import Foundation

/// A request whose handler is async: the target is a task of the observer's own.
struct AsyncObservationRequest {
    private(set) var request: ObservationRequest
    private let hook = AsyncHandlerHook()

    init(_ request: (DeliveryTarget) -> ObservationRequest) {
        self.request = request(DeliveryTarget(kind: .task(hook.handler)))
        self.request.add(hook)
    }

    /// The part that the handler captures, because the request holds the sender; with the actor that the handler is
    /// isolated to.
    func hook(on actor: (any Actor)?) -> AsyncHandlerHook {
        hook.handler.deliver(on: actor)
        return hook
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
}
