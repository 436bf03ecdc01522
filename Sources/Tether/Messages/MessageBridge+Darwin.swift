#if canImport(Darwin)

internal import Foundation

/// The conversion of a type of messages from and to plain notifications, by the requirements of Foundation's protocols.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
enum MessageBridge {
    static func name<Message: NotificationCenter.AsyncMessage>(of type: Message.Type) -> Notification.Name { type.name }

    static func name<Message: NotificationCenter.MainActorMessage>(of type: Message.Type) -> Notification.Name {
        type.name
    }

    static func message<Message: NotificationCenter.AsyncMessage>(_ notification: Notification) -> Message? {
        Message.makeMessage(notification)
    }

    /// Whether messages of a type can be made of plain notifications at all; every type may, there.
    static func makesMessages<Message: NotificationCenter.MainActorMessage>(_ type: Message.Type) -> Bool { true }

    @MainActor
    static func message<Message: NotificationCenter.MainActorMessage>(_ notification: Notification) -> Message? {
        Message.makeMessage(notification)
    }

    static func userInfo<Message: NotificationCenter.AsyncMessage>(of message: Message) -> [AnyHashable: Any]? {
        Message.makeNotification(message).userInfo
    }

    @MainActor
    static func userInfo<Message: NotificationCenter.MainActorMessage>(of message: Message) -> [AnyHashable: Any]? {
        Message.makeNotification(message).userInfo
    }
}

#endif
