public import Foundation
internal import Synchronization

// Typed messages: how a message is posted and found.
//
// To the center a message is a notification, so names, senders, owners and targets work as always:
//
// - `post(message, subject:)` posts a notification: the type's name, the subject as object, the
//   message in `userInfo`.
// - Plain observers get the notification.
// - An observer of messages has a hook. The hook finds the message in `userInfo`, or has the type
//   make a message of a plain notification. Without a message, the observer does not match.
// - The delivery is a notification whose object is the message in its box. The delivery does not
//   retain the subject.
//
// Code that is generic over the message runs unspecialised. So the facts about a type of messages
// are in a plain object, a `MessageKind`, and only boxes and handlers have a message's type.

// MARK: Posting

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    /// Posts a main-actor message about a subject.
    ///
    /// Handlers of the message have returned when `post` returns. Plain observers of the message's
    /// name, and of any name, get a notification with `subject`, a class instance or a `Hashable`
    /// value, as the object. `userInfo` holds the message, and the entries that the message makes
    /// (`BridgedMainActorMessage`).
    @MainActor
    public func post<Message: NotificationCenter.MainActorMessage>(
        _ message: Message, subject: Message.Subject
    ) {
        post(.of(Message.self), about: subject, MessageBox(message))
    }

    /// Posts a main-actor message without a subject, which reaches observers of any subject. Omit
    /// `subject`.
    @MainActor
    public func post<Message: NotificationCenter.MainActorMessage>(
        _ message: Message, subject: Message.Subject.Type = Message.Subject.self
    ) {
        post(.of(Message.self), about: nil, MessageBox(message))
    }

    /// Posts an async message about a subject.
    ///
    /// Never waits for async handlers. Plain observers get a notification, as for a main-actor
    /// message (`BridgedAsyncMessage`). Any thread.
    public func post<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, subject: Message.Subject
    ) {
        post(.of(Message.self), about: subject, MessageBox(message))
    }

    /// Posts an async message without a subject, which reaches observers of any subject. Omit
    /// `subject`.
    public func post<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, subject: Message.Subject.Type = Message.Subject.self
    ) {
        post(.of(Message.self), about: nil, MessageBox(message))
    }

    private func post(
        _ kind: MessageKind, about subject: Any?, _ box: @autoclosure () -> CarriedMessage
    ) {
        func notification() -> Notification {
            let box = box()
            var userInfo = kind.makeUserInfo?(box) ?? [:]
            userInfo[unsafe MessageKey.shared] = box
            return Notification(name: kind.name, object: subject, userInfo: userInfo)
        }
        core.post(
            name: kind.name, sender: { subject.flatMap(SenderKey.init(any:)) },
            withNotification: { $0(notification()) })
    }
}

// MARK: How a message travels

/// A message in a box, without the message's type.
///
/// SAFETY: `type` never changes; the subclass answers for the message.
class CarriedMessage: @unchecked Sendable {
    /// The type of the message, which determines the subclass.
    let type: ObjectIdentifier

    fileprivate init(of type: ObjectIdentifier) { self.type = type }

    /// The box as one of a type; `nil` if the message is of another type.
    @inline(__always)
    final func box<Message>(of type: Message.Type) -> MessageBox<Message>? {
        // SAFETY: the type determines the subclass; `MessageBox.init` upholds it.
        self.type == ObjectIdentifier(type)
            ? unsafe unsafeDowncast(self, to: MessageBox<Message>.self) : nil
    }
}

/// A message in a box.
///
/// SAFETY: `message` never changes. A main-actor message that is not `Sendable` is read on the main
/// actor alone.
final class MessageBox<Message>: CarriedMessage, CustomStringConvertible, @unchecked Sendable {
    let message: Message

    init(_ message: Message) {
        self.message = message
        super.init(of: ObjectIdentifier(Message.self))
    }

    var description: String { "\(message)" }
}

/// The key of the message in the `userInfo` of a posted notification.
private struct MessageKey: Hashable, CustomStringConvertible {
    // SAFETY: never changes, and its content is `Sendable`.
    nonisolated(unsafe) static let shared = AnyHashable(MessageKey())
    var description: String { "message" }
}

extension Notification {
    /// The message that a posted notification has in `userInfo`, and a delivery as its object.
    var carriedMessage: CarriedMessage? {
        // Not by a cast, because casts from `Any` take hundreds of nanoseconds.
        func carried(_ value: Any) -> CarriedMessage? {
            Unwrapped.storedObject(in: value) as? CarriedMessage
        }
        guard let userInfo else { return object.flatMap(carried) }
        // A dictionary with one entry is not searched, because hashing costs more.
        if userInfo.count == 1 { return carried(userInfo.values[userInfo.startIndex]) }
        return userInfo[unsafe MessageKey.shared].flatMap(carried)
    }
}

/// Finds or makes the message of each post on the posting thread. A plain notification that only
/// the main actor can convert, posted on another thread, is converted on the main actor.
///
/// SAFETY: `kind` never changes.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
final class MessageHook: RegistrationHook, @unchecked Sendable {
    private let kind: MessageKind

    init(_ kind: MessageKind) { self.kind = kind }

    override var prepares: Bool { true }
    override var convertsOnTarget: Bool { kind.isOnMainActor && kind.makeMessage != nil }

    override func prepare(_ notification: Notification, for registration: Registration)
        -> Notification?
    {
        var carried = notification.carriedMessage
        if carried?.type != kind.type {
            guard let makeMessage = kind.makeMessage else { return nil }
            if kind.isOnMainActor, !MainQueue.isCurrent { return notification }
            carried = makeMessage(notification)
        }
        return carried.map { Notification(name: notification.name, object: $0) }
    }
}

// MARK: Types of messages

/// The facts about a type of messages, made once and kept for the life of the process.
///
/// SAFETY: `next` is set before other threads find the kind; all else never changes.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@safe final class MessageKind: @unchecked Sendable {
    let type: ObjectIdentifier
    let isOnMainActor: Bool
    /// The name of the type's notifications. The string is always the same, so a center finds the
    /// string by identity.
    let name: Notification.Name
    /// Makes a message of a plain notification, on the type's actor; `nil` if the type exchanges no
    /// messages.
    let makeMessage: ((Notification) -> CarriedMessage?)?
    /// Makes the `userInfo` of a message, on the type's actor.
    let makeUserInfo: ((CarriedMessage) -> [AnyHashable: Any]?)?
    /// The next kind in the same list.
    private var next: MessageKind?

    fileprivate init<Message>(
        _ type: Message.Type, isOnMainActor: Bool, name: Notification.Name? = nil,
        makeMessage: ((Notification) -> Message?)? = nil,
        makeNotification: ((Message) -> Notification)? = nil
    ) {
        self.type = ObjectIdentifier(type)
        self.isOnMainActor = isOnMainActor
        self.name = name ?? Notification.Name(String(reflecting: type))
        self.makeMessage = makeMessage.map { make in { make($0).map(MessageBox.init) } }
        makeUserInfo = makeNotification.map { make in
            { $0.box(of: type).flatMap { make($0.message).userInfo } }
        }
    }

    static func of<Message: NotificationCenter.AsyncMessage>(_ type: Message.Type) -> MessageKind {
        find(type) {
            ($0 as? any AsyncBridge.Type)?.kind ?? MessageKind(type, isOnMainActor: false)
        }
    }

    static func of<Message: NotificationCenter.MainActorMessage>(_ type: Message.Type)
        -> MessageKind
    {
        find(type) {
            ($0 as? any MainActorBridge.Type)?.kind ?? MessageKind(type, isOnMainActor: true)
        }
    }

    /// The kinds, in lists by their types' addresses. A kind is added in front, and stays, because
    /// types stay.
    private static let lists = unsafe InlineArray<64, Atomic<Unmanaged<MessageKind>?>> { _ in
        unsafe Atomic(nil)
    }

    private static func find(_ type: Any.Type, make: (Any.Type) -> MessageKind) -> MessageKind {
        let identity = ObjectIdentifier(type)
        let list = Int(mixedBits(ofAddress: UInt(bitPattern: identity)) >> 58)
        var made: MessageKind?
        while true {
            // SAFETY: the list retains its kinds.
            let first = unsafe lists[list].load(ordering: .acquiring)
            var known = unsafe first?.takeUnretainedValue()
            while let kind = known, kind.type != identity { known = kind.next }
            if let known { return known }
            // The list is searched again, because the type's own code may use the type's name.
            guard let made else {
                made = make(type)
                continue
            }
            made.next = unsafe first?.takeUnretainedValue()
            // SAFETY: the list takes over the reference, or the last line releases it.
            let new = unsafe Unmanaged.passRetained(made)
            if unsafe lists[list].compareExchange(
                expected: first, desired: new, ordering: .releasing
            ).exchanged {
                return made
            }
            unsafe new.release()
        }
    }
}

// MARK: Bridging
//
// On Apple platforms Foundation's protocols require a name and both conversions of messages.
// Elsewhere Foundation 6.3 omits the requirements, and a type declares them by one of the protocols
// below, which work on Apple platforms, too.

#if canImport(Darwin)
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
private typealias AsyncBridge = NotificationCenter.AsyncMessage
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
private typealias MainActorBridge = NotificationCenter.MainActorMessage
#else
private typealias AsyncBridge = BridgedAsyncMessage
private typealias MainActorBridge = BridgedMainActorMessage
#endif

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension AsyncBridge {
    fileprivate static var kind: MessageKind {
        MessageKind(
            Self.self, isOnMainActor: false, name: name, makeMessage: makeMessage,
            makeNotification: makeNotification)
    }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension MainActorBridge {
    fileprivate static var kind: MessageKind {
        // SAFETY: the isolation does not change how a function is called. A post of a main-actor
        // message is on the main actor, and `MessageHook` checks for the main queue.
        MessageKind(
            Self.self, isOnMainActor: true, name: name,
            makeMessage: unsafe unsafeBitCast(makeMessage, to: ((Notification) -> Self?).self),
            makeNotification: unsafe unsafeBitCast(
                makeNotification, to: ((Self) -> Notification).self))
    }
}

/// An async message that is exchanged with plain notifications of its name.
///
/// The article [Typed messages](doc:TypedMessages) has an example.
///
/// Plain observers of `name` then get the notification that `makeNotification` makes of a posted
/// message, with the message itself, for Tether, in `userInfo`. Observers of the message get the
/// message that `makeMessage` makes of a notification under `name`. Each of the three requirements
/// may be omitted: then the name is the type's, with its module, and nothing is made.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
public protocol BridgedAsyncMessage: NotificationCenter.AsyncMessage {
    /// The name that the message shares with plain notifications. Tether caches the name for the
    /// life of the process.
    static var name: Notification.Name { get }
    /// Makes a message of a notification posted under `name`, on the posting thread; `nil` if the
    /// notification makes none.
    static func makeMessage(_ notification: Notification) -> Self?
    /// Makes a plain notification of a message. The post sets the name and the object.
    static func makeNotification(_ message: Self) -> Notification
}

/// A main-actor message that is exchanged with plain notifications of its name.
///
/// Like `BridgedAsyncMessage`, but on the main actor. A plain notification posted elsewhere reaches
/// observers of the message later. Until then the notification counts against an observer's
/// backlog, even if it makes no message.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
public protocol BridgedMainActorMessage: NotificationCenter.MainActorMessage {
    /// The name that the message shares with plain notifications. Tether caches the name for the
    /// life of the process.
    static var name: Notification.Name { get }
    /// Makes a message of a notification posted under `name`; `nil` if the notification makes none.
    @MainActor static func makeMessage(_ notification: Notification) -> Self?
    /// Makes a plain notification of a message. The post sets the name and the object.
    @MainActor static func makeNotification(_ message: Self) -> Notification
}

#if !canImport(Darwin)

extension BridgedAsyncMessage {
    /// The type's name, with its module.
    public static var name: Notification.Name { Notification.Name(String(reflecting: Self.self)) }
    /// Makes nothing.
    public static func makeMessage(_ notification: Notification) -> Self? { nil }
    /// Makes a notification without `userInfo`.
    public static func makeNotification(_ message: Self) -> Notification {
        Notification(name: MessageKind.of(Self.self).name)
    }
}

extension BridgedMainActorMessage {
    /// The type's name, with its module.
    public static var name: Notification.Name { Notification.Name(String(reflecting: Self.self)) }
    /// Makes nothing.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? { nil }
    /// Makes a notification without `userInfo`.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
        Notification(name: MessageKind.of(Self.self).name)
    }
}

#endif
