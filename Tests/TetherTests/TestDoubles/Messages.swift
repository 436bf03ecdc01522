import Foundation
import Tether

/// The subjects of the tests' messages.
final class Album: Sendable {}

struct AlbumDidChange: NotificationCenter.MainActorMessage {
    typealias Subject = Album
    let number: Int
}

/// Not Sendable, as a main-actor message may be.
struct AlbumDidOpen: NotificationCenter.MainActorMessage {
    final class Window { var title = "" }
    typealias Subject = Album
    let window: Window
}

struct AlbumDidSave: NotificationCenter.AsyncMessage {
    typealias Subject = Album
    let number: Int
    var payload: AnyObjectPayload?
}

/// An object that a message retains.
struct AnyObjectPayload: Sendable {
    let object: any AnyObject & Sendable
}

struct AlbumDidClose: BridgedMainActorMessage {
    typealias Subject = Album
    static var name: Notification.Name { Notification.Name("albumDidClose") }
    let number: Int

    static func makeMessage(_ notification: Notification) -> Self? {
        (notification.userInfo?["number"] as? Int).map(Self.init)
    }

    static func makeNotification(_ message: Self) -> Notification {
        Notification(name: .other, object: "replaced", userInfo: ["number": message.number])
    }
}

struct AlbumDidLoad: BridgedAsyncMessage {
    typealias Subject = Album
    static var name: Notification.Name { Notification.Name("albumDidLoad") }
    let number: Int

    static func makeMessage(_ notification: Notification) -> Self? {
        (notification.userInfo?["number"] as? Int).map(Self.init)
    }

    static func makeNotification(_ message: Self) -> Notification {
        Notification(name: .other, object: "replaced", userInfo: ["number": message.number])
    }
}

/// Has the name of another type's messages, and makes no message of their notifications.
struct SameNameAsAlbumDidLoad: BridgedAsyncMessage {
    typealias Subject = Album
    static var name: Notification.Name { AlbumDidLoad.name }
}

/// Has the name of a main-actor type's messages, and makes no message of their notifications.
struct SameNameAsAlbumDidClose: BridgedAsyncMessage {
    typealias Subject = Album
    static var name: Notification.Name { AlbumDidClose.name }
}

/// Declares no requirement that the bridging implies.
struct AlbumDidRest: BridgedMainActorMessage {
    typealias Subject = Album
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<AlbumDidChange> {
    static var didChange: Self { .init() }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<AlbumDidSave> {
    static var didSave: Self { .init() }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<AlbumDidClose> {
    static var didClose: Self { .init() }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<AlbumDidLoad> {
    static var didLoad: Self { .init() }
}
