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

/// An object that is only held while a method of it runs (O4, O9).
final class HeldForCalls<Object: AnyObject>: Sendable {
    private let reference: OwnerReference<Object>

    /// `nil` for an object that is being deinitialised.
    init?(_ object: Object, call: StaticString) {
        ObjectArgument.receiver.check(object, call: call)
        guard let reference = OwnerReference(object) else { return nil }
        self.reference = reference
    }

    /// `call`, without its object: it does nothing once that has gone.
    func calling(_ call: @escaping Calling<Object>.Body) -> @Sendable (Notification) -> Void {
        { notification in self.reference.take().map { call($0, notification) } }
    }
}
