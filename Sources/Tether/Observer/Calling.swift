internal import Foundation

/// How a method given as `Type.method` is called.
enum Calling<Receiver: AnyObject> {
    typealias Body = @Sendable (Receiver, Notification) -> Void

    /// A method whose isolation, if it has one, is where this is called.
    static func method(_ method: @escaping @Sendable (Receiver) -> @isolated(any) (Notification) -> Void) -> Body {
        { receiver, notification in
            // SAFETY: the target is the method's own isolation, so this runs on its actor; a function value does not
            // change its form with its isolation.
            unsafe unsafeBitCast(method(receiver), to: ((Notification) -> Void).self)(notification)
        }
    }

    /// A method without the notification, whose isolation, if it has one, is where this is called.
    static func method(_ method: @escaping @Sendable (Receiver) -> @isolated(any) () -> Void) -> Body {
        { receiver, _ in
            // SAFETY: as above.
            unsafe unsafeBitCast(method(receiver), to: (() -> Void).self)()
        }
    }

    /// A method of the main actor, where this is called.
    static func mainActorMethod(_ method: @escaping @Sendable (Receiver) -> @MainActor (Notification) -> Void) -> Body {
        { receiver, notification in
            // SAFETY: the receiver stays on this thread, which has the main actor for the call.
            nonisolated(unsafe) let receiver = receiver
            onMainActor(notification) { unsafe method(receiver)($0) }
        }
    }

    /// A method of the main actor without the notification, where this is called.
    static func mainActorMethod(_ method: @escaping @Sendable (Receiver) -> @MainActor () -> Void) -> Body {
        { receiver, notification in
            // SAFETY: as above.
            nonisolated(unsafe) let receiver = receiver
            onMainActor(notification) { _ in unsafe method(receiver)() }
        }
    }
}
