public import Foundation

// Calls that people try, and that must not compile, each with a sentence that names the right call.
// Completion does not show them. A form stays only if the compiler's own words lead nowhere: Tests/
// TetherTests/Compiler/WrongPrograms.txt has programs with and without a form, and the page
// CompilerMessages explains the compiler's words.
//
// A form takes an async handler, so it fits synchronous closures, too. The handler has a label,
// which a trailing closure leaves out. Without a label the compiler takes an argument behind any
// wrong label for the handler. A form for a name has no pack of owners. Otherwise a handler with a
// wrong number of parameters reads 'pack expansion requires'.

// MARK: Observing a name

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message:
        "an async handler takes no target: leave out 'on:'; for the main actor write '{ @MainActor owner, note in … }'"
)
extension NotifyingCenter {
    @discardableResult public func observe(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        on target: DeliveryTarget, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @Sendable (Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument, owner: Owner,
        on target: DeliveryTarget, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        on target: MainActorTarget, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @MainActor @Sendable (Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument, owner: Owner,
        on target: MainActorTarget, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @MainActor @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message:
        "the arguments are: name, 'from:' the sender, 'owner:', 'on:' where the handler runs, 'once:', 'key:', 'backlog:'"
)
extension NotifyingCenter {
    @_disfavoredOverload
    @discardableResult public func observe(
        _ name: Notification.Name?, object: Any? = nil, sender: Any? = nil,
        on target: DeliveryTarget = .postingThread, queue: OperationQueue? = nil,
        target place: DeliveryTarget = .postingThread, thread: Thread? = nil,
        batching: Bool = false, buffering: BufferingPolicy = .unbounded, once: Bool = false,
        key: (any Hashable)? = nil,
        closure handler: @escaping @Sendable (Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_disfavoredOverload
    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, object: Any? = nil, sender: Any? = nil, owner: Owner,
        on target: DeliveryTarget = .postingThread, queue: OperationQueue? = nil,
        target place: DeliveryTarget = .postingThread, thread: Thread? = nil,
        batching: Bool = false, buffering: BufferingPolicy = .unbounded, once: Bool = false,
        key: (any Hashable)? = nil,
        closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_disfavoredOverload
    @discardableResult public func observe(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        queue: DispatchQueue, closure handler: @escaping @Sendable (Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_disfavoredOverload
    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument, owner: Owner,
        queue: DispatchQueue,
        closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

// Deprecated, not unavailable, because the compiler then takes the call with an `Any`. The call
// changes nothing, as for every token of another center (M8).
@_documentation(visibility: internal)
extension NotificationCenter {
    @available(*, deprecated, message: "end an observer of Tether's by 'cancel()'")
    public func removeObserver(_ token: NotificationObserver) { removeObserver(token as Any) }
}

@_documentation(visibility: internal)
extension NotificationObserver {
    @available(*, unavailable, renamed: "cancel()")
    public func stop() {}
}

// MARK: Connecting a method

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "name the method's type, and the object apart: 'to: Sidebar.reload, of: sidebar'"
)
extension NotifyingCenter {
    @discardableResult public func connect(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        to method: @MainActor (Notification) -> Void, of object: AnyObject
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func connect(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        to method: @MainActor () -> Void, of object: AnyObject
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message:
        "call an actor's method in a closure: 'observe(name, owner: cache) { cache, note in cache.clear() }'"
)
extension NotifyingCenter {
    @discardableResult public func connect<Object: Actor, Method>(
        _ name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        to method: @escaping @Sendable (isolated Object) -> Method, of object: Object
    ) -> NotificationObserver { NotificationObserver() }
}

// MARK: Posting

@_documentation(visibility: internal)
@available(*, unavailable, message: "write 'post(name: name, object: sender)'")
extension ObserverCenter {
    public func post(
        _ name: Notification.Name, object: Any? = nil, userInfo: [AnyHashable: Any]? = nil
    ) {}
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message:
        "a message is about its 'subject:', an object of the message's 'Subject' that is not optional; a Notification has its object inside"
)
extension ObserverCenter {
    @_disfavoredOverload public func post<Message>(_ message: Message, object: Any?) {}

    @_disfavoredOverload public func post<Message>(_ message: Message, subject: Any?) {}
}

// MARK: Messages

// Not generic over the message. Otherwise a mistyped member in a handler of messages reads 'cannot
// infer type'.
@_documentation(visibility: internal)
@available(
    *, unavailable, message: "a type of messages is given as 'for: .type(ModelDidChange.self)'"
)
extension ObserverCenter {
    @discardableResult public func observe<each Owner: AnyObject>(
        of subject: Any? = nil, for type: Any.Type, owner: repeat each Owner,
        on target: DeliveryTarget = .postingThread, once: Bool = false, key: (any Hashable)? = nil,
        closure handler: @escaping @isolated(any) (repeat each Owner, Any) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@_documentation(visibility: internal)
@available(
    *, unavailable,
    message:
        "a main-actor message is handled on the main actor before the post returns: leave out 'on:' and 'backlog:', and await in a task"
)
extension ObserverCenter {
    @_disfavoredOverload
    @discardableResult
    public func observe<Message: NotificationCenter.MainActorMessage, each Owner: AnyObject>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject =
            try AnySubject.subject(),
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>,
        owner: repeat each Owner, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @isolated(any) (repeat each Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_disfavoredOverload
    @discardableResult
    public func observe<Message: NotificationCenter.MainActorMessage, each Owner: AnyObject>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject =
            try AnySubject.subject(),
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>,
        owner: repeat each Owner, on target: MainActorTarget, once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @MainActor (repeat each Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "messages are observed on an ObserverCenter; over Foundation's center observe a name"
)
extension NotificationCenter {
    @discardableResult public func observe<Message, each Owner: AnyObject>(
        of subject: Any? = nil,
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>,
        owner: repeat each Owner, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil,
        closure handler: @escaping @isolated(any) (repeat each Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

// MARK: Targets, tasks and traces

// For a wrong argument behind the queue. Otherwise the compiler says that `MainActorTarget` has no
// such member.
@_documentation(visibility: internal)
@available(
    *, unavailable, message: "a handler of the main actor runs there: write 'on: .mainActor'"
)
extension MainActorTarget {
    public static func dispatchQueue(
        _ queue: DispatchQueue, concurrently: Bool = false, batching: Bool = false
    ) -> MainActorTarget { .mainActor }

    public static func operationQueue(_ queue: OperationQueue) -> MainActorTarget { .mainActor }

    public static func thread(
        _ thread: Thread, modes: Set<RunLoop.Mode> = [.common]
    ) -> MainActorTarget { .mainActor }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message:
        "a task is given no owner: capture it weakly, 'Task(owner: self) { [weak self] in await self?.load() }'"
)
extension Task where Failure == any Error {
    @_disfavoredOverload
    @discardableResult public init<Owner: AnyObject>(
        owner: Owner, key: (any Hashable)? = nil, name: String? = nil,
        priority: TaskPriority? = nil,
        closure operation: @escaping @isolated(any) (Owner) async throws -> Success
    ) { preconditionFailure() }
}

// Without this form the compiler fails to produce a diagnostic.
@_documentation(visibility: internal)
@available(*, unavailable, message: "the file is 'to: URL(filePath: \"trace.json\")'")
extension Trace {
    public static func record<File, Result>(
        _ file: File, closure: () async throws -> Result
    ) -> Result { preconditionFailure() }
}
