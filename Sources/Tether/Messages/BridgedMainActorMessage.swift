public import Foundation

// On Apple platforms the requirements below are Foundation's own. Elsewhere Foundation 6.3 has left them out of
// `MainActorMessage`, so a message says by this protocol that it has them.

/// A main-actor message that is exchanged with plain notifications of its name.
///
/// As `BridgedAsyncMessage`, on the main actor. A plain notification that is posted somewhere else reaches observers
/// of the message on the main actor, later. It counts against an observer's backlog, and may be the newest that is kept
/// while the observer is muted, before it is known what message it makes, or whether it makes one ([T2](doc:Contract#T2)).
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

#if !canImport(Darwin)

extension BridgedMainActorMessage {
    /// The type's name, with its module.
    public static var name: Notification.Name { Notification.Name(String(reflecting: Self.self)) }

    /// Makes nothing.
    /// - Parameter notification: Any notification.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? { nil }

    /// Makes a notification that carries the message itself, in a way that only Tether can read.
    /// - Parameter message: Any message.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
        Notification(name: MessageNames.name(of: Self.self))
    }
}

#endif
