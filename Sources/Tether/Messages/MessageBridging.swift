public import Foundation

// The exchange of messages with plain notifications.
//
// A type of messages may have a name, make a message of a plain notification, and make a notification of a message. On Apple
// platforms these are requirements of Foundation's protocols. Elsewhere Foundation 6.3 has left them out, so a type declares
// them by one of the protocols below, which work on Apple platforms, too.

/// An async message that is exchanged with plain notifications of its name.
///
/// ```swift
/// struct DownloadDidEnd: BridgedAsyncMessage {
///     typealias Subject = Download
///     static var name: Notification.Name { .downloadDidEnd }
///     let bytes: Int
///
///     static func makeMessage(_ note: Notification) -> Self? {
///         (note.userInfo?["bytes"] as? Int).map(Self.init)
///     }
///     static func makeNotification(_ end: Self) -> Notification {
///         Notification(name: name, userInfo: ["bytes": end.bytes])
///     }
/// }
/// ```
///
/// Plain observers of `name` then get the notification that `makeNotification` makes of a posted message. Observers of the
/// message get the message that `makeMessage` makes of a notification under `name`, unless it is `nil`. Each of the three
/// requirements may be left out: the name is then the type's, with its module, and nothing is made. In each case `userInfo`
/// has one more entry with the message itself, which only Tether can read: posted again, it is the message still.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
public protocol BridgedAsyncMessage: NotificationCenter.AsyncMessage {
    /// The name that it shares with plain notifications. It is asked for once in a process.
    static var name: Notification.Name { get }

    /// Makes a message of a plain notification; `nil` if it is not one.
    ///
    /// Called on the posting thread, inside the post.
    /// - Parameter notification: A notification that was posted under `name`.
    static func makeMessage(_ notification: Notification) -> Self?

    /// Makes a plain notification of a message. Its name and its object are set by the post.
    /// - Parameter message: A message that is being posted.
    static func makeNotification(_ message: Self) -> Notification
}

/// A main-actor message that is exchanged with plain notifications of its name.
///
/// As `BridgedAsyncMessage`, on the main actor. A plain notification that is posted somewhere else reaches observers
/// of the message on the main actor, later. Until then it is not known whether it makes a message, so it counts against an
/// observer's backlog, and may be the newest that is kept while the observer is muted (T2).
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
public protocol BridgedMainActorMessage: NotificationCenter.MainActorMessage {
    /// The name that it shares with plain notifications. It is asked for once in a process.
    static var name: Notification.Name { get }

    /// Makes a message of a plain notification; `nil` if it is not one.
    /// - Parameter notification: A notification that was posted under `name`.
    @MainActor static func makeMessage(_ notification: Notification) -> Self?

    /// Makes a plain notification of a message. Its name and its object are set by the post.
    /// - Parameter message: A message that is being posted.
    @MainActor static func makeNotification(_ message: Self) -> Notification
}

#if canImport(Darwin)

/// The requirements of Foundation's protocols. Every type has them.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
enum MessageBridge {
    static func kind<Message: NotificationCenter.AsyncMessage>(of type: Message.Type) -> MessageKind {
        MessageKind(name: type.name, isBridged: true)
    }

    static func kind<Message: NotificationCenter.MainActorMessage>(of type: Message.Type) -> MessageKind {
        MessageKind(name: type.name, isBridged: true)
    }

    static func message<Message: NotificationCenter.AsyncMessage>(_ notification: Notification) -> Message? {
        Message.makeMessage(notification)
    }

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

#else

extension BridgedAsyncMessage {
    /// The type's name, with its module.
    public static var name: Notification.Name { Notification.Name(String(reflecting: Self.self)) }

    /// Makes nothing.
    /// - Parameter notification: Any notification.
    public static func makeMessage(_ notification: Notification) -> Self? { nil }

    /// Makes a notification without `userInfo`.
    /// - Parameter message: Any message.
    public static func makeNotification(_ message: Self) -> Notification {
        Notification(name: MessageKind.of(Self.self).name)
    }
}

extension BridgedMainActorMessage {
    /// The type's name, with its module.
    public static var name: Notification.Name { Notification.Name(String(reflecting: Self.self)) }

    /// Makes nothing.
    /// - Parameter notification: Any notification.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? { nil }

    /// Makes a notification without `userInfo`.
    /// - Parameter message: Any message.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
        Notification(name: MessageKind.of(Self.self).name)
    }
}

/// The requirements of the protocols above, for a type that conforms to one of them.
enum MessageBridge {
    static func kind<Message: NotificationCenter.AsyncMessage>(of type: Message.Type) -> MessageKind {
        kind(type, named: (type as? any BridgedAsyncMessage.Type)?.name)
    }

    static func kind<Message: NotificationCenter.MainActorMessage>(of type: Message.Type) -> MessageKind {
        kind(type, named: (type as? any BridgedMainActorMessage.Type)?.name)
    }

    private static func kind<Message>(_ type: Message.Type, named name: Notification.Name?) -> MessageKind {
        MessageKind(name: name ?? Notification.Name(String(reflecting: type)), isBridged: name != nil)
    }

    static func message<Message: NotificationCenter.AsyncMessage>(_ notification: Notification) -> Message? {
        (Message.self as? any BridgedAsyncMessage.Type)?.makeMessage(notification) as? Message
    }

    @MainActor
    static func message<Message: NotificationCenter.MainActorMessage>(_ notification: Notification) -> Message? {
        (Message.self as? any BridgedMainActorMessage.Type)?.makeMessage(notification) as? Message
    }

    static func userInfo<Message: NotificationCenter.AsyncMessage>(of message: Message) -> [AnyHashable: Any]? {
        func made<Bridged: BridgedAsyncMessage>(of message: Bridged) -> [AnyHashable: Any]? {
            Bridged.makeNotification(message).userInfo
        }
        return (message as? any BridgedAsyncMessage).flatMap { made(of: $0) }
    }

    @MainActor
    static func userInfo<Message: NotificationCenter.MainActorMessage>(of message: Message) -> [AnyHashable: Any]? {
        func made<Bridged: BridgedMainActorMessage>(of message: Bridged) -> [AnyHashable: Any]? {
            Bridged.makeNotification(message).userInfo
        }
        return (message as? any BridgedMainActorMessage).flatMap { made(of: $0) }
    }
}

#endif
