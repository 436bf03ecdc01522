public import Foundation

// Typed messages: how a message is posted and found.
//
// A message's type, a `MainActorMessage` or `AsyncMessage` of Foundation, names the message in posts and observers. To
// the center a message is a notification, so names, senders, owners and targets work as always:
//
// - `post(message, subject:)` posts a notification: the type's name, the subject as object, the message in `userInfo`.
// - Plain observers get the notification.
// - An observer of messages has a hook. The hook finds the message in `userInfo`, or has the type make a message of a
//   plain notification. Without a message, the observer does not match.
// - The delivery is a notification whose object is the message in its box. The delivery may wait on a target, and does
//   not retain the subject.
// - The handler gets the content of the box.
//
// A message is found once for each observer. Casts to its type are avoided, because code that is generic over the
// message runs unspecialised. A notification that a forwarder posts again still carries its message.
//
// MessageObserving.swift has the calls that observe, and the async sequence.

// MARK: Posting

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    /// Posts a main-actor message about a subject.
    ///
    /// Handlers of the message have returned when `post` returns (T3). Plain observers of the message's name, and of
    /// any name, get a notification with `subject` as the object. `userInfo` holds the message, and the entries that
    /// the message makes (`BridgedMainActorMessage`).
    /// - Parameters:
    ///   - message: The message.
    ///   - subject: The message's subject: a class instance, or a `Hashable` value.
    @MainActor
    public func post<Message: NotificationCenter.MainActorMessage>(_ message: Message, subject: Message.Subject) {
        post(message, about: subject)
    }

    /// Posts a main-actor message without a subject, which reaches observers of any subject.
    /// - Parameters:
    ///   - message: The message.
    ///   - subject: The type of the subject; omit the argument.
    @MainActor
    public func post<Message: NotificationCenter.MainActorMessage>(
        _ message: Message, subject: Message.Subject.Type = Message.Subject.self
    ) {
        post(message, about: nil)
    }

    /// Posts an async message about a subject.
    ///
    /// Never waits for async handlers. Plain observers get a notification, as for a main-actor message
    /// (`BridgedAsyncMessage`). Any thread.
    /// - Parameters:
    ///   - message: The message, which observers' tasks take to other threads.
    ///   - subject: The message's subject: a class instance, or a `Hashable` value.
    public func post<Message: NotificationCenter.AsyncMessage>(_ message: Message, subject: Message.Subject) {
        post(message, about: subject)
    }

    /// Posts an async message without a subject, which reaches observers of any subject.
    /// - Parameters:
    ///   - message: The message, which observers' tasks take to other threads.
    ///   - subject: The type of the subject; omit the argument.
    public func post<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, subject: Message.Subject.Type = Message.Subject.self
    ) {
        post(message, about: nil)
    }

    @MainActor
    private func post<Message: NotificationCenter.MainActorMessage>(_ message: Message, about subject: Any?) {
        let kind = MessageKind.of(Message.self)
        func notification() -> Notification {
            let userInfo = kind.isBridged ? MessageBridge.userInfo(of: message) : nil
            return MessageEnvelope.notification(kind.name, subject, userInfo, carrying: MessageBox(message))
        }
        core.post(name: kind.name, sender: { subject.flatMap(SenderKey.init(any:)) }, notify: { $0(notification()) })
    }

    private func post<Message: NotificationCenter.AsyncMessage>(_ message: Message, about subject: Any?) {
        let kind = MessageKind.of(Message.self)
        func notification() -> Notification {
            let userInfo = kind.isBridged ? MessageBridge.userInfo(of: message) : nil
            return MessageEnvelope.notification(kind.name, subject, userInfo, carrying: MessageBox(message))
        }
        core.post(name: kind.name, sender: { subject.flatMap(SenderKey.init(any:)) }, notify: { $0(notification()) })
    }
}

// MARK: How a message travels

/// A message in a box, without the message's type.
///
/// SAFETY: `type` never changes; a subclass answers for the message.
class CarriedMessage: @unchecked Sendable {
    /// The type of the message, which determines the subclass.
    let type: ObjectIdentifier

    fileprivate init(of type: ObjectIdentifier) { self.type = type }

    fileprivate var content: Any { self }
}

/// A message in a box.
///
/// SAFETY: `message` never changes. A main-actor message that is not `Sendable` is read on the main actor alone.
final class MessageBox<Message>: CarriedMessage, CustomStringConvertible, @unchecked Sendable {
    let message: Message

    init(_ message: Message) {
        self.message = message
        super.init(of: ObjectIdentifier(Message.self))
    }

    fileprivate override var content: Any { message }

    var description: String { "\(message)" }
}

/// The two notifications of a message: the posted one has it in `userInfo`, the delivered one as its object.
enum MessageEnvelope {
    private final class Key: Hashable, Sendable, CustomStringConvertible {
        var description: String { "message" }

        static func == (one: Key, other: Key) -> Bool { one === other }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    // SAFETY: `key` never changes, and its content is `Sendable`.
    nonisolated(unsafe) private static let key = AnyHashable(Key())

    /// The notification that is posted.
    static func notification(
        _ name: Notification.Name, _ subject: Any?, _ userInfo: [AnyHashable: Any]?, carrying box: CarriedMessage
    ) -> Notification {
        var userInfo = userInfo ?? [:]
        userInfo[unsafe key] = box
        return Notification(name: name, object: subject, userInfo: userInfo)
    }

    /// The notification for an observer of messages, if the posted notification carries a message of the type.
    static func delivery<Message>(of notification: Notification, as type: Message.Type) -> Notification? {
        // A dictionary with one entry is not searched, because hashing costs more. So does a cast from `Any`.
        guard let userInfo = notification.userInfo,
            let value = userInfo.count == 1 ? userInfo.values[userInfo.startIndex] : userInfo[unsafe key],
            let carried = Unwrapped.storedObject(in: value) as? CarriedMessage
        else { return nil }
        if carried.type == ObjectIdentifier(type) { return Notification(name: notification.name, object: carried) }
        // A type of messages may be a class, and the message an instance of a subclass.
        return (carried.content as? Message).map { delivery(of: $0, for: notification) }
    }

    /// The notification for an observer of messages, with a message that was made of the posted notification.
    static func delivery<Message>(of message: Message, for notification: Notification) -> Notification {
        Notification(name: notification.name, object: MessageBox(message))
    }

    /// The message of a delivery.
    static func message<Message>(in delivery: Notification) -> Message? {
        guard let object = delivery.object, let carried = Unwrapped.storedObject(in: object) as? CarriedMessage,
            carried.type == ObjectIdentifier(Message.self)
        else { return nil }
        // SAFETY: the type determines the subclass; `MessageBox.init` upholds it.
        return unsafe unsafeDowncast(carried, to: MessageBox<Message>.self).message
    }

    /// Whether a notification is a delivery of a message of the type.
    static func isDelivery<Message>(_ notification: Notification, of type: Message.Type) -> Bool {
        guard let object = notification.object else { return false }
        return (Unwrapped.storedObject(in: object) as? CarriedMessage)?.type == ObjectIdentifier(type)
    }
}

// MARK: Receiving

/// Finds or makes the async message of each post, on the posting thread.
///
/// SAFETY: `isBridged` never changes.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
final class AsyncMessageHook<Message: NotificationCenter.AsyncMessage>: RegistrationHook, @unchecked Sendable {
    private let isBridged = MessageKind.of(Message.self).isBridged

    override var prepares: Bool { true }

    override func prepare(_ notification: Notification, for registration: Registration) -> Notification? {
        prepare(notification)
    }

    func prepare(_ notification: Notification) -> Notification? {
        if let delivery = MessageEnvelope.delivery(of: notification, as: Message.self) { return delivery }
        guard isBridged, let message: Message = MessageBridge.message(notification) else { return nil }
        return MessageEnvelope.delivery(of: message, for: notification)
    }
}

/// Finds the main-actor message of each post on the posting thread, or makes the message on the main actor.
///
/// A plain notification posted on another thread waits unconverted, and is converted on the main actor.
///
/// SAFETY: `isBridged` never changes.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
final class MainActorMessageHook<Message: NotificationCenter.MainActorMessage>: RegistrationHook, @unchecked Sendable {
    private let isBridged = MessageKind.of(Message.self).isBridged

    override var prepares: Bool { true }
    override var convertsOnTarget: Bool { isBridged }

    override func prepare(_ notification: Notification, for registration: Registration) -> Notification? {
        if MessageEnvelope.isDelivery(notification, of: Message.self) { return notification }
        if let delivery = MessageEnvelope.delivery(of: notification, as: Message.self) { return delivery }
        guard isBridged else { return nil }
        guard MainQueue.isCurrent else { return notification }
        // SAFETY: `onMainActor` calls the closure on the calling thread, before returning.
        nonisolated(unsafe) var delivery: Notification?
        onMainActor(notification) { notification in
            guard let message: Message = MessageBridge.message(notification) else { return }
            unsafe delivery = MessageEnvelope.delivery(of: message, for: notification)
        }
        return unsafe delivery
    }
}

// MARK: Types of messages

/// The facts about a type of messages, cached for the life of the process.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
struct MessageKind: Sendable {
    /// The name of the type's notifications. The string is always the same, so a center finds the string by identity.
    let name: Notification.Name
    /// Whether the type may exchange messages with plain notifications.
    let isBridged: Bool

    /// By type. Entries stay, because types stay.
    private static let known = Locked<[ObjectIdentifier: MessageKind]>([:])

    static func of<Message: NotificationCenter.AsyncMessage>(_ type: Message.Type) -> MessageKind {
        of(ObjectIdentifier(type)) { MessageBridge.kind(of: type) }
    }

    static func of<Message: NotificationCenter.MainActorMessage>(_ type: Message.Type) -> MessageKind {
        of(ObjectIdentifier(type)) { MessageBridge.kind(of: type) }
    }

    private static func of(_ type: ObjectIdentifier, ask: () -> MessageKind) -> MessageKind {
        if let kind = known.withLock({ $0[type] }) { return kind }
        // Without a lock, because the type's own code may use the type's name.
        let asked = ask()
        return known.withLock { known in
            if let kind = known[type] { return kind }
            known[type] = asked
            return asked
        }
    }
}

// MARK: Bridging
//
// A type of messages may have a name, make a message of a plain notification, and make a notification of a message. On
// Apple platforms Foundation's protocols require all three. Elsewhere Foundation 6.3 omits the requirements, and a type
// declares them by one of the protocols below, which work on Apple platforms, too.

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
/// Plain observers of `name` then get the notification that `makeNotification` makes of a posted message. Observers of
/// the message get the message that `makeMessage` makes of a notification under `name`, unless the result is `nil`.
/// Each of the three requirements may be omitted: then the name is the type's, with its module, and nothing is made.
/// `userInfo` also has the message itself, which only Tether can read, and still can when the notification is posted
/// again.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
public protocol BridgedAsyncMessage: NotificationCenter.AsyncMessage {
    /// The name that the message shares with plain notifications. Tether caches the name for the life of the process.
    static var name: Notification.Name { get }

    /// Makes a message of a plain notification; `nil` if the notification makes none.
    ///
    /// Called on the posting thread, inside the post.
    /// - Parameter notification: A notification posted under `name`.
    static func makeMessage(_ notification: Notification) -> Self?

    /// Makes a plain notification of a message. The post sets the name and the object.
    /// - Parameter message: The posted message.
    static func makeNotification(_ message: Self) -> Notification
}

/// A main-actor message that is exchanged with plain notifications of its name.
///
/// Like `BridgedAsyncMessage`, but on the main actor. A plain notification posted elsewhere reaches observers of the
/// message later, on the main actor. Until then the notification counts against an observer's backlog, and may be kept
/// as the newest while the observer is muted, even if no message can be made (T2).
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
public protocol BridgedMainActorMessage: NotificationCenter.MainActorMessage {
    /// The name that the message shares with plain notifications. Tether caches the name for the life of the process.
    static var name: Notification.Name { get }

    /// Makes a message of a plain notification; `nil` if the notification makes none.
    /// - Parameter notification: A notification posted under `name`.
    @MainActor static func makeMessage(_ notification: Notification) -> Self?

    /// Makes a plain notification of a message. The post sets the name and the object.
    /// - Parameter message: The posted message.
    @MainActor static func makeNotification(_ message: Self) -> Notification
}

#if canImport(Darwin)

/// The requirements of Foundation's protocols, which every type has.
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
