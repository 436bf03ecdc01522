internal import Foundation

/// How a message travels: as the notification that plain observers of its name get, with the message in its `userInfo`.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
enum MessageEnvelope {
    private final class Key: Hashable, Sendable {
        static func == (one: Key, other: Key) -> Bool { one === other }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    // SAFETY: never changes, and what it holds is Sendable.
    nonisolated(unsafe) private static let key = AnyHashable(Key())

    /// A notification that carries a message.
    static func notification(
        _ name: Notification.Name, subject: AnyObject?, userInfo: [AnyHashable: Any]?, carrying message: Any
    ) -> Notification {
        var userInfo = userInfo ?? [:]
        userInfo[unsafe key] = message
        return Notification(name: name, object: subject, userInfo: userInfo)
    }

    /// The message of a type that a notification carries.
    static func message<Message>(in notification: Notification) -> Message? {
        notification.userInfo?[unsafe key] as? Message
    }

    /// Whether a notification carries a message of a type.
    static func carries<Message>(_ type: Message.Type, in notification: Notification) -> Bool {
        notification.userInfo?[unsafe key] is Message
    }

    /// A notification that carries a message of a type, or with the one that it makes; `nil` if it makes none.
    static func notification<Message: NotificationCenter.AsyncMessage>(
        _ notification: Notification, as type: Message.Type
    ) -> Notification? {
        if carries(type, in: notification) { return notification }
        guard let message: Message = MessageBridge.message(notification) else { return nil }
        return self.notification(notification, carrying: message)
    }

    /// The notification with a message that was made of it.
    static func notification(_ notification: Notification, carrying message: Any) -> Notification {
        var notification = notification
        notification.userInfo = notification.userInfo ?? [:]
        notification.userInfo?[unsafe key] = message
        return notification
    }
}
