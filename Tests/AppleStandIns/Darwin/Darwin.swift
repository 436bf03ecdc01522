// Apple's typed messages, with the requirements that other Foundations lack, from their first
// releases on. On Apple platforms the messages are Foundation's. The module's name is `Darwin`,
// because the sources check `canImport(Darwin)`.
//
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// A kind of socket, which has a separate type in Linux's C library.
public var SOCK_STREAM: Int32 { 1 }

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter {
    public protocol MainActorMessage: SendableMetatype {
        associatedtype Subject
        static var name: Notification.Name { get }
        @MainActor static func makeMessage(_ notification: Notification) -> Self?
        @MainActor static func makeNotification(_ message: Self) -> Notification
    }

    public protocol AsyncMessage: Sendable {
        associatedtype Subject
        static var name: Notification.Name { get }
        static func makeMessage(_ notification: Notification) -> Self?
        static func makeNotification(_ message: Self) -> Notification
    }

    public protocol MessageIdentifier {
        associatedtype MessageType
    }

    public struct BaseMessageIdentifier<MessageType>: MessageIdentifier, Sendable {
        public init() {}
    }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter.MainActorMessage {
    public static var name: Notification.Name { Notification.Name(String(reflecting: Self.self)) }
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? { nil }
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
        Notification(name: name)
    }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter.AsyncMessage {
    public static var name: Notification.Name { Notification.Name(String(reflecting: Self.self)) }
    public static func makeMessage(_ notification: Notification) -> Self? { nil }
    public static func makeNotification(_ message: Self) -> Notification {
        Notification(name: name)
    }
}
