internal import Foundation

/// Asks about each post, on the posting thread, whether it is a message of a type, or makes one.
///
/// SAFETY: adds no state.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
final class AsyncMessageHook<Message: NotificationCenter.AsyncMessage>: RegistrationHook, @unchecked Sendable {
    override var prepares: Bool { true }

    override func prepare(_ notification: Notification, for registration: Registration) -> Notification? {
        MessageEnvelope.notification(notification, as: Message.self)
    }
}
