internal import Foundation

/// Asks about each post whether it is a message of a type, or makes one, on the main actor.
///
/// Only the main actor can tell what a plain notification makes, so one that is posted elsewhere waits as it is, and is
/// converted when its turn comes there.
///
/// SAFETY: adds no state.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
final class MainActorMessageHook<Message: NotificationCenter.MainActorMessage>: RegistrationHook, @unchecked Sendable {
    override var prepares: Bool { true }
    override var convertsOnTarget: Bool { true }

    override func prepare(_ notification: Notification, for registration: Registration) -> Notification? {
        if let carrying = MessageEnvelope.carrying(Message.self, notification) { return carrying }
        guard MessageBridge.makesMessages(Message.self) else { return nil }
        guard MainDrains().isCurrent else { return notification }
        // SAFETY: set by the call below, on this thread, before it returns.
        nonisolated(unsafe) var prepared: Notification?
        onMainActor(notification) { notification in
            guard let message: Message = MessageBridge.message(notification) else { return }
            unsafe prepared = MessageEnvelope.notification(notification, carrying: message)
        }
        return unsafe prepared
    }
}
