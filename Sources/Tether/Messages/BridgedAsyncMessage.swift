public import Foundation

// On Apple platforms the requirements below are Foundation's own. Elsewhere Foundation 6.3 has left them out of
// `AsyncMessage`, so a message says by this protocol that it has them.

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
/// Plain observers of `name` then get what `makeNotification` makes of a posted message, and observers of the message
/// get what `makeMessage` makes of a notification that was posted under `name`, unless that is `nil`. Each of the three
/// may be left out: the name is then the type's, with its module, and nothing is made. A notification without `userInfo`
/// gets one with the message itself, which only Tether can read: posted again, it is the message still.
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

#if !canImport(Darwin)

extension BridgedAsyncMessage {
    /// The type's name, with its module.
    public static var name: Notification.Name { Notification.Name(String(reflecting: Self.self)) }

    /// Makes nothing.
    /// - Parameter notification: Any notification.
    public static func makeMessage(_ notification: Notification) -> Self? { nil }

    /// Makes a notification that carries the message itself, in a way that only Tether can read.
    /// - Parameter message: Any message.
    public static func makeNotification(_ message: Self) -> Notification {
        Notification(name: MessageNames.name(of: Self.self))
    }
}

#endif
