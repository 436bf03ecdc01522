internal import Foundation

/// A method, given as `Type.method`, as a handler that takes the method's object.
enum Calling<Object: AnyObject> {
    typealias Body = @Sendable (Object, Notification) -> Void

    static func method(_ method: @escaping @Sendable (Object) -> (Notification) -> Void) -> Body {
        { object, notification in method(object)(notification) }
    }

    static func method(_ method: @escaping @Sendable (Object) -> () -> Void) -> Body {
        { object, _ in method(object)() }
    }

    /// A method of the main actor; the handler's target is the main queue.
    static func mainActorMethod(_ method: @escaping @Sendable (Object) -> @MainActor (Notification) -> Void) -> Body {
        { object, notification in
            // SAFETY: the object stays on this thread, which has the main actor for the call.
            nonisolated(unsafe) let object = object
            onMainActor(notification) { unsafe method(object)($0) }
        }
    }

    /// A method of the main actor without the notification; the handler's target is the main queue.
    static func mainActorMethod(_ method: @escaping @Sendable (Object) -> @MainActor () -> Void) -> Body {
        { object, notification in
            // SAFETY: as above.
            nonisolated(unsafe) let object = object
            onMainActor(notification) { _ in unsafe method(object)() }
        }
    }

    /// A closure for the main actor, which takes the object alone; the handler's target is the main queue.
    static func mainActorClosure(_ call: @escaping @MainActor @Sendable (Object) -> Void) -> Body {
        { object, notification in
            // SAFETY: as above.
            nonisolated(unsafe) let object = object
            onMainActor(notification) { _ in unsafe call(object) }
        }
    }
}
