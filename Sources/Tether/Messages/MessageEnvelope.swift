internal import Foundation

/// How a message travels: in the `userInfo` of a notification, so that one which is posted again is the message still. Beside
/// it, on its post, where plain observers are to get the notification that the message makes; its own observers then get
/// another one with it.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
enum MessageEnvelope {
    private final class Key: Hashable, Sendable {
        static func == (one: Key, other: Key) -> Bool { one === other }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    // SAFETY: never changes, and what it holds is Sendable.
    nonisolated(unsafe) private static let key = AnyHashable(Key())

    // MARK: Posting

    /// A message whose post is under way on a thread.
    private final class Posted {
        let message: Any
        private let notification: Notification
        /// The post's pin: a post inside of it has another one.
        private let post: UInt
        /// What its observers get.
        private(set) lazy var carrying = MessageEnvelope.notification(notification, carrying: message)

        init(_ message: Any, as notification: Notification, in post: UInt) {
            self.message = message
            self.notification = notification
            self.post = post
        }

        var isInnermost: Bool { PostingThread.current.innermostPost == post }
    }

    private static let posted = ThreadSlot<Posted>()

    /// Hands the notification that stands for a message, with what the message makes, to its receivers; to be called in the
    /// message's post.
    static func post(_ message: Any, as notification: Notification, to receive: (Notification) -> Void) {
        if notification.userInfo == nil { return receive(self.notification(notification, carrying: message)) }
        let thread = PostingThread.current
        let outer = thread[posted]
        thread[posted] = Posted(message, as: notification, in: thread.innermostPost)
        receive(notification)
        thread[posted] = outer
    }

    // MARK: Receiving

    /// The message of a type that a notification carries.
    static func message<Message>(in notification: Notification) -> Message? {
        notification.userInfo?[unsafe key] as? Message
    }

    /// A notification that carries a message of a type, if it does so, or its post does.
    static func carrying<Message>(_ type: Message.Type, _ notification: Notification) -> Notification? {
        if notification.userInfo?[unsafe key] is Message { return notification }
        guard let posted = PostingThread.current[posted], posted.message is Message, posted.isInnermost else {
            return nil
        }
        return posted.carrying
    }

    /// A notification that carries a message of a type, or with the one that it makes; `nil` if it makes none.
    static func notification<Message: NotificationCenter.AsyncMessage>(
        _ notification: Notification, as type: Message.Type
    ) -> Notification? {
        if let carrying = carrying(type, notification) { return carrying }
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
