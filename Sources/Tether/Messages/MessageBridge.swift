#if !canImport(Darwin)

internal import Foundation

/// The conversion of a type of messages from and to plain notifications, where it conforms to `BridgedAsyncMessage` or
/// `BridgedMainActorMessage`.
enum MessageBridge {
    static func name<Message: NotificationCenter.AsyncMessage>(of type: Message.Type) -> Notification.Name {
        (type as? any BridgedAsyncMessage.Type)?.name ?? Notification.Name(String(reflecting: type))
    }

    static func name<Message: NotificationCenter.MainActorMessage>(of type: Message.Type) -> Notification.Name {
        (type as? any BridgedMainActorMessage.Type)?.name ?? Notification.Name(String(reflecting: type))
    }

    static func message<Message: NotificationCenter.AsyncMessage>(_ notification: Notification) -> Message? {
        (Message.self as? any BridgedAsyncMessage.Type)?.makeMessage(notification) as? Message
    }

    /// Whether messages of a type can be made of plain notifications at all.
    static func makesMessages<Message: NotificationCenter.MainActorMessage>(_ type: Message.Type) -> Bool {
        type is any BridgedMainActorMessage.Type
    }

    @MainActor
    static func message<Message: NotificationCenter.MainActorMessage>(_ notification: Notification) -> Message? {
        (Message.self as? any BridgedMainActorMessage.Type)?.makeMessage(notification) as? Message
    }

    static func userInfo<Message: NotificationCenter.AsyncMessage>(of message: Message) -> [AnyHashable: Any]? {
        guard let message = message as? any BridgedAsyncMessage else { return nil }
        return madeUserInfo(of: message)
    }

    private static func madeUserInfo<Message: BridgedAsyncMessage>(of message: Message) -> [AnyHashable: Any]? {
        Message.makeNotification(message).userInfo
    }

    @MainActor
    static func userInfo<Message: NotificationCenter.MainActorMessage>(of message: Message) -> [AnyHashable: Any]? {
        guard let message = message as? any BridgedMainActorMessage else { return nil }
        return madeUserInfo(of: message)
    }

    @MainActor
    private static func madeUserInfo<Message: BridgedMainActorMessage>(of message: Message) -> [AnyHashable: Any]? {
        Message.makeNotification(message).userInfo
    }
}

#endif
