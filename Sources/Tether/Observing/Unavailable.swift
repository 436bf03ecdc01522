public import Foundation

// Calls that do not compile, with a sentence that names the right call. An async handler type gives
// the sentence for synchronous and async closures alike, and a pack of owners for calls with and
// without an owner. A call with `from:` that has a wrong number of handler parameters would match
// such a pack, and the compiler would say that "pack expansion" fails. So the calls with `from:`
// are written twice, with and without an owner.
//
// The closure has a label, which a trailing closure leaves out. Without a label the compiler takes
// an argument behind any wrong label, such as `times: 1`, for the closure, and says that 1 is no
// closure.

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message:
        "leave out 'from:' to observe any sender, or pass a class instance that is not optional, or 'ValueSender(value)'"
)
extension NotifyingCenter {
    public func observe(
        _ name: Notification.Name?, from sender: Any?,
        on target: DeliveryTarget = .postingThread, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @Sendable (Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Any?, owner: Owner,
        on target: DeliveryTarget = .postingThread, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    public func observe(
        _ name: Notification.Name?, from sender: Any?, on target: MainActorTarget,
        once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @MainActor @Sendable (Notification) -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Any?, owner: Owner, on target: MainActorTarget,
        once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @MainActor @Sendable (Owner, Notification) -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "where a handler runs is 'on:', as in 'on: .dispatchQueue(queue)' or 'on: .main'"
)
extension NotifyingCenter {
    @discardableResult public func observe<Sender: AnyObject, each Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        owner: repeat each Owner,
        queue: OperationQueue?,
        closure handler: @escaping @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Sender: AnyObject, each Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        owner: repeat each Owner,
        queue: DispatchQueue,
        closure handler: @escaping @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Sender: AnyObject, each Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        owner: repeat each Owner, target: DeliveryTarget, once: Bool = false,
        key: (any Hashable)? = nil,
        closure handler: @escaping @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Sender: AnyObject, each Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        owner: repeat each Owner, target: MainActorTarget, once: Bool = false,
        key: (any Hashable)? = nil,
        closure handler:
            @escaping @MainActor @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Sender: AnyObject, each Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        owner: repeat each Owner, thread: Thread,
        closure handler: @escaping @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func connect<Object: AnyObject, Method, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> Method, of object: Object, owner: Any? = nil,
        queue: OperationQueue?
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func connect<Object: AnyObject, Method, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        to method: @escaping @Sendable (Object) -> Method, of object: Object, owner: Any? = nil,
        queue: DispatchQueue
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "batching belongs to a queue: 'on: .dispatchQueue(queue, batching: true)'"
)
extension NotifyingCenter {
    @discardableResult public func observe<Sender: AnyObject, each Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        owner: repeat each Owner, on target: DeliveryTarget = .postingThread, batching: Bool,
        once: Bool = false, key: (any Hashable)? = nil,
        closure handler: @escaping @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "the bound of an observer's waiting deliveries is 'backlog: .newest(10)'"
)
extension NotifyingCenter {
    @discardableResult public func observe<Sender: AnyObject, each Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        owner: repeat each Owner, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil, buffering policy: BufferingPolicy,
        closure handler: @escaping @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "the object whose end ends the observer is 'owner:', behind name and 'from:'"
)
extension NotifyingCenter {
    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, for owner: Owner, on target: DeliveryTarget = .postingThread,
        closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_disfavoredOverload
    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, of owner: Owner, on target: DeliveryTarget = .postingThread,
        closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, observer owner: Owner,
        on target: DeliveryTarget = .postingThread,
        closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject>(
        owner: Owner, _ name: Notification.Name?, on target: DeliveryTarget = .postingThread,
        closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, _ owner: Owner, on target: DeliveryTarget = .postingThread,
        closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "the order is: name, 'from:', 'owner:', 'on:', 'once:', 'key:', 'backlog:'"
)
extension NotifyingCenter {
    @discardableResult public func observe<Sender: AnyObject, each Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        owner: repeat each Owner,
        on target: DeliveryTarget = .postingThread, key: (any Hashable)?, once: Bool,
        closure handler: @escaping @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Sender: AnyObject, each Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        owner: repeat each Owner, once: Bool,
        on target: DeliveryTarget, key: (any Hashable)? = nil,
        closure handler: @escaping @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        on target: DeliveryTarget, owner: Owner,
        once: Bool = false, closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_disfavoredOverload
    @discardableResult public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        on target: DeliveryTarget = .postingThread, once: Bool, owner: Owner,
        closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_disfavoredOverload
    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, on target: DeliveryTarget, from sender: Any?, owner: Owner,
        once: Bool = false, closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, owner: Owner, from sender: Any?,
        on target: DeliveryTarget = .postingThread,
        once: Bool = false, closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        on target: MainActorTarget, owner: Owner,
        once: Bool = false,
        closure handler: @escaping @MainActor @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, owner: Owner, from sender: Any?,
        on target: MainActorTarget, once: Bool = false,
        closure handler: @escaping @MainActor @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe(
        _ name: Notification.Name?, on target: DeliveryTarget, from sender: Any?,
        once: Bool = false, closure handler: @escaping @Sendable (Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, owner: Owner, on target: DeliveryTarget, from sender: Any?,
        once: Bool = false, closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe(
        _ name: Notification.Name?, on target: MainActorTarget, from sender: Any?,
        once: Bool = false,
        closure handler: @escaping @MainActor @Sendable (Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject>(
        _ name: Notification.Name?, owner: Owner, on target: MainActorTarget, from sender: Any?,
        once: Bool = false,
        closure handler: @escaping @MainActor @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Sender: AnyObject, each Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        owner: repeat each Owner, on target: DeliveryTarget = .postingThread, once: Bool = false,
        backlog: BufferingPolicy, key: (any Hashable)?,
        closure handler: @escaping @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Sender: AnyObject, each Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        owner: repeat each Owner, on target: MainActorTarget, once: Bool = false,
        backlog: BufferingPolicy, key: (any Hashable)?,
        closure handler:
            @escaping @MainActor @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Sender: AnyObject, each Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        owner: repeat each Owner, key: (any Hashable)?, on target: DeliveryTarget,
        once: Bool = false,
        closure handler: @escaping @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Sender: AnyObject, each Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        owner: repeat each Owner, key: (any Hashable)?, on target: MainActorTarget,
        once: Bool = false,
        closure handler:
            @escaping @MainActor @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Sender: AnyObject, each Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        owner: repeat each Owner, backlog: BufferingPolicy, on target: DeliveryTarget,
        once: Bool = false, key: (any Hashable)? = nil,
        closure handler: @escaping @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Sender: AnyObject, each Owner: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        owner: repeat each Owner, backlog: BufferingPolicy, on target: MainActorTarget,
        once: Bool = false, key: (any Hashable)? = nil,
        closure handler:
            @escaping @MainActor @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "the sender is 'from:', before 'owner:' and 'to:'; leave it out for any"
)
extension NotifyingCenter {
    @discardableResult public func observe<each Owner: AnyObject>(
        _ name: Notification.Name?, object sender: Any?, owner: repeat each Owner,
        on target: DeliveryTarget = .postingThread, queue: OperationQueue? = nil,
        once: Bool = false,
        closure handler: @escaping @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<each Owner: AnyObject>(
        _ name: Notification.Name?, sender: Any?, owner: repeat each Owner,
        on target: DeliveryTarget = .postingThread, once: Bool = false, key: (any Hashable)? = nil,
        closure handler: @escaping @Sendable (repeat each Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func connect<Object: AnyObject, Method>(
        _ name: Notification.Name?, object sender: Any?,
        to method: @escaping @Sendable (Object) -> Method,
        of object: Object, owner: Any? = nil, on target: DeliveryTarget = .postingThread,
        once: Bool = false
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "no handler throws: write 'do { try … } catch { … }' in it"
)
extension NotifyingCenter {
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        on target: DeliveryTarget = .postingThread,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @Sendable (Notification) async throws -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        on target: DeliveryTarget = .postingThread, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @Sendable (Owner, Notification) async throws -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message:
        "an async handler takes no target: leave out 'on:'; for the main actor write '{ @MainActor owner, note in … }'"
)
extension NotifyingCenter {
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        on target: DeliveryTarget,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @Sendable (Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        on target: DeliveryTarget, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        on target: MainActorTarget,
        once: Bool = false, key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @MainActor @Sendable (Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        on target: MainActorTarget, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @MainActor @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "an owner is a class instance or an actor, and not optional; or leave out 'owner:'"
)
extension NotifyingCenter {
    @_disfavoredOverload
    @discardableResult public func observe<Owner, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        on target: DeliveryTarget = .postingThread, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(*, unavailable, message: "the sender is 'from:', the owner is 'owner:'")
extension NotifyingCenter {
    @_disfavoredOverload
    @discardableResult public func observe<Object: AnyObject>(
        _ name: Notification.Name?, _ object: Object,
        closure handler: @escaping @Sendable (Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
@available(
    *, unavailable, message: "leave out 'from:' for any sender, or pass one that is not optional"
)
extension ObserverCenter {
    @_disfavoredOverload
    public func hasObservers(named name: Notification.Name, from sender: Any?) -> Bool { false }
}

// Deprecated, not unavailable, because the compiler then takes the call with an `Any`. The call
// changes nothing, as for every token of another center (M8).
@_documentation(visibility: internal)
extension NotificationCenter {
    @available(*, deprecated, message: "end an observer of Tether's by its 'cancel()'")
    public func removeObserver(_ token: NotificationObserver) { removeObserver(token as Any) }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "an observer with an owner is 'observe(name, from: sender, owner: owner)'"
)
extension ObserverCenter {
    @_disfavoredOverload
    @discardableResult public func addObserver<Owner>(
        forName name: Notification.Name?, object sender: Any? = nil,
        queue: OperationQueue? = nil, owner: Owner,
        closure handler: @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

extension ValueSender {
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "pass the object itself: 'from: model'")
    @_disfavoredOverload
    public convenience init<Object: AnyObject>(_ object: Object) { self.init(0) }
}

extension Audit {
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "an audit is made by 'center.audit()'")
    public init(_ center: any NotifyingCenter) { self = center.audit() }
}

@_documentation(visibility: internal)
@available(*, unavailable, message: "write 'post(name: name, object: sender)'")
extension ObserverCenter {
    public func post(
        _ name: Notification.Name, from sender: Any? = nil, userInfo: [AnyHashable: Any]? = nil
    ) {}
    public func post(
        name: Notification.Name, from sender: Any?, userInfo: [AnyHashable: Any]? = nil
    ) {}
    public func post(
        name: Notification.Name, sender: Any?, userInfo: [AnyHashable: Any]? = nil
    ) {}
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "a sender is given in the Notification: 'Notification(name: name, object: sender)'"
)
extension ObserverCenter {
    public func post(
        _ notification: Notification, object: Any?, userInfo: [AnyHashable: Any]? = nil
    ) {}
}

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

    public func addObserver(
        of subject: Any? = nil, for type: Any.Type,
        using handler: @escaping @isolated(any) (Any) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    public func messages(of subject: Any? = nil, for type: Any.Type) -> AsyncStream<Never> {
        preconditionFailure()
    }

    public func messages(_ type: Any.Type) -> AsyncStream<Never> {
        preconditionFailure()
    }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@_documentation(visibility: internal)
@available(*, unavailable, message: "what a message is about is its 'subject:'")
extension ObserverCenter {
    public func post<Message: NotificationCenter.MainActorMessage>(
        _ message: Message, object subject: Any?
    ) {}
    public func post<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, object subject: Any?
    ) {}
    public func post<Message: NotificationCenter.MainActorMessage>(
        _ message: Message, from subject: Any?
    ) {}
    public func post<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, from subject: Any?
    ) {}
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@_documentation(visibility: internal)
@available(*, unavailable, message: "the sender of messages is their subject, 'of:', before 'for:'")
extension ObserverCenter {
    @discardableResult public func observe<Message, each Owner: AnyObject>(
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>, from subject: Any?,
        owner: repeat each Owner, once: Bool = false,
        closure handler: @escaping @isolated(any) (repeat each Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Message, each Owner: AnyObject>(
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>, of subject: Any?,
        owner: repeat each Owner, once: Bool = false,
        closure handler: @escaping @isolated(any) (repeat each Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@_documentation(visibility: internal)
@available(
    *, unavailable,
    message:
        "'of:' takes the subject that the messages are about, not optional; leave it out for any"
)
extension ObserverCenter {
    public func observe<Message>(
        of subject: Any?, for identifier: NotificationCenter.BaseMessageIdentifier<Message>,
        on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil,
        closure handler: @escaping @isolated(any) (Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult public func observe<Message, Owner: AnyObject>(
        of subject: Any?, for identifier: NotificationCenter.BaseMessageIdentifier<Message>,
        owner: Owner, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil,
        closure handler: @escaping @isolated(any) (Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_disfavoredOverload
    public func messages<Message: NotificationCenter.AsyncMessage>(
        of subject: Any?, for identifier: NotificationCenter.BaseMessageIdentifier<Message>
    ) -> AsyncStream<Message> { preconditionFailure() }
}

extension DeliveryTarget {
    @_documentation(visibility: internal)
    @available(
        *, unavailable, message: "write '.dispatchQueue(queue)' or '.operationQueue(queue)'"
    )
    public static func queue(_ queue: Any, concurrently: Bool = false, batching: Bool = false)
        -> DeliveryTarget
    { .main }

    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message:
            "a handler runs on the actor that is its owner: 'owner: cache) { (cache: isolated Cache, note) in … }'"
    )
    public static func actor(_ actor: any Actor) -> DeliveryTarget { .main }

    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message:
            "a token's target is '.mainAsync'; 'on: .mainActorAsync' takes a synchronous handler"
    )
    public static var mainActorAsync: DeliveryTarget { .mainAsync }

    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message: "a token's target is '.main'; 'on: .mainActor' takes a synchronous handler"
    )
    public static var mainActor: DeliveryTarget { .main }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@_documentation(visibility: internal)
@available(
    *, unavailable,
    message:
        "an async handler takes no target: leave out 'on:'; for the main actor write '{ @MainActor owner, note in … }'"
)
extension ObserverCenter {
    @discardableResult
    public func observe<
        Message: NotificationCenter.AsyncMessage, each Owner: AnyObject
    >(
        of subject: Message.Subject,
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>,
        owner: repeat each Owner, on target: DeliveryTarget, once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @Sendable (repeat each Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult
    public func observe<
        Message: NotificationCenter.AsyncMessage, each Owner: AnyObject
    >(
        of subject: Message.Subject,
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>,
        owner: repeat each Owner, on target: MainActorTarget, once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @MainActor @Sendable (repeat each Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult
    public func observe<
        Message: NotificationCenter.AsyncMessage, each Owner: AnyObject
    >(
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>,
        owner: repeat each Owner, on target: DeliveryTarget, once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @Sendable (repeat each Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult
    public func observe<
        Message: NotificationCenter.AsyncMessage, each Owner: AnyObject
    >(
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>,
        owner: repeat each Owner, on target: MainActorTarget, once: Bool = false,
        key: (any Hashable)? = nil, backlog: BufferingPolicy = .unbounded,
        closure handler: @escaping @MainActor @Sendable (repeat each Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@_documentation(visibility: internal)
@available(
    *, unavailable,
    message:
        "a main-actor message is handled on the main actor before the post returns: leave out 'on:', and await in a task"
)
extension ObserverCenter {
    public func observe<Message: NotificationCenter.MainActorMessage>(
        of subject: Message.Subject,
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>,
        on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil,
        closure handler: @escaping @isolated(any) (Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult
    public func observe<Message: NotificationCenter.MainActorMessage, Owner: AnyObject>(
        of subject: Message.Subject,
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>,
        owner: Owner, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil,
        closure handler: @escaping @isolated(any) (Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @discardableResult
    public func observe<
        Message: NotificationCenter.MainActorMessage, each Owner: AnyObject
    >(
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>,
        owner: repeat each Owner, on target: DeliveryTarget = .postingThread, once: Bool = false,
        key: (any Hashable)? = nil,
        closure handler: @escaping @isolated(any) (repeat each Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@_documentation(visibility: internal)
extension ObserverCenter {
    @available(*, unavailable, renamed: "hasObservers(named:from:)")
    public func hasObservers<Sender: AnyObject>(
        of name: Notification.Name, from sender: Sender = Omitted.argument
    ) -> Bool { false }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@_documentation(visibility: internal)
@available(*, unavailable, message: "the order is: 'of:', 'for:', 'owner:', 'on:', 'once:', 'key:'")
extension ObserverCenter {
    @_disfavoredOverload
    @discardableResult public func observe<Message, Owner: AnyObject>(
        of subject: Any?, owner: Owner,
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>, once: Bool = false,
        closure handler: @escaping @isolated(any) (Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }

    @_disfavoredOverload
    @discardableResult public func observe<Message, Owner: AnyObject>(
        owner: Owner, of subject: Any? = nil,
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>, once: Bool = false,
        closure handler: @escaping @isolated(any) (Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

// MARK: Loops over sequences

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "the handler takes the owner and the element: '{ owner, element in … }'"
)
extension AsyncSequence where Self: Sendable {
    @discardableResult public func observe<Owner: AnyObject>(
        owner: Owner, closure handler: @escaping @Sendable (Element) async -> Void
    ) -> Task<Void, any Error> { Task { () async throws in } }

    @discardableResult public func observe(
        closure handler: @escaping @Sendable (Element) async -> Void
    ) -> Task<Void, any Error> { Task { () async throws in } }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "the handler takes the owner first: '{ owner, element in … }'"
)
extension AsyncSequence where Self: Sendable {
    @_disfavoredOverload
    @discardableResult public func observe<Owner: AnyObject>(
        owner: Owner, closure handler: @escaping @Sendable (Element, Owner) async -> Void
    ) -> Task<Void, any Error> { Task { () async throws in } }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "no handler throws: write 'do { try … } catch { … }' in it"
)
extension AsyncSequence where Self: Sendable {
    @discardableResult public func observe<Owner: AnyObject>(
        owner: Owner, closure handler: @escaping @Sendable (Owner, Element) async throws -> Void
    ) -> Task<Void, any Error> { Task { () async throws in } }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "an owner is a class instance or an actor, and not optional"
)
extension AsyncSequence where Self: Sendable {
    @_disfavoredOverload
    @discardableResult public func observe<Owner>(
        owner: Owner, closure handler: @escaping @Sendable (Owner, Element) async -> Void
    ) -> Task<Void, any Error> { Task { () async throws in } }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message:
        "a loop runs where it is called, or on the actor of its handler, '{ @MainActor owner, element in … }': leave out 'on:'"
)
extension AsyncSequence where Self: Sendable {
    @discardableResult public func observe<Owner: AnyObject>(
        owner: Owner, on target: DeliveryTarget,
        closure handler: @escaping @Sendable (Owner, Element) async -> Void
    ) -> Task<Void, any Error> { Task { () async throws in } }

    @discardableResult public func observe<Owner: AnyObject>(
        owner: Owner, on target: MainActorTarget,
        closure handler: @escaping @MainActor @Sendable (Owner, Element) async -> Void
    ) -> Task<Void, any Error> { Task { () async throws in } }
}

@_documentation(visibility: internal)
@available(*, unavailable, message: "for one element write 'await sequence.first(where:)'")
extension AsyncSequence where Self: Sendable {
    @discardableResult public func observe<Owner: AnyObject>(
        owner: Owner, once: Bool,
        closure handler: @escaping @Sendable (Owner, Element) async -> Void
    ) -> Task<Void, any Error> { Task { () async throws in } }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "a task runs where it is started, or on the actor of its closure: leave out 'on:'"
)
extension Task where Failure == Never {
    @_disfavoredOverload
    @discardableResult public init<Owner: AnyObject>(
        owner: Owner, on target: DeliveryTarget,
        operation: sending @escaping @isolated(any) () async -> Success
    ) { self = Task(operation: operation) }
}

@_documentation(visibility: internal)
@available(
    *, unavailable, message: "a task that ends with an object is 'Task(owner: object) { … }'"
)
extension Task where Failure == Never {
    @_disfavoredOverload
    @discardableResult public static func detached<Owner: AnyObject>(
        owner: Owner, name: String? = nil, priority: TaskPriority? = nil,
        operation: sending @escaping @isolated(any) () async -> Success
    ) -> Task<Success, Failure> { Task(operation: operation) }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "the closure runs on the thread that releases the owner last: leave out 'on:'"
)
extension OwnerLifetime {
    public static func whenEnded<Owner: AnyObject>(
        _ owner: Owner, on target: DeliveryTarget, closure: @escaping @Sendable () -> Void
    ) {}
}

@_documentation(visibility: internal)
@available(*, unavailable, message: "the file is 'to: URL(filePath: \"trace.json\")'")
extension Trace {
    public static func record<File, Result>(
        _ file: File, closure: () async throws -> Result
    ) -> Result { preconditionFailure() }
}

@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "an owner is a class instance or an actor, and not optional"
)
extension Task where Failure == Never {
    @_disfavoredOverload
    @discardableResult public init<Owner>(
        owner: Owner, name: String? = nil, priority: TaskPriority? = nil,
        operation: sending @escaping @isolated(any) () async -> Success
    ) { self = Task(operation: operation) }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "a sequence is of async messages; observe main-actor messages with 'observe'"
)
extension ObserverCenter {
    @_disfavoredOverload
    public func messages<Message: NotificationCenter.MainActorMessage>(
        of subject: Any? = nil, for identifier: NotificationCenter.BaseMessageIdentifier<Message>
    ) -> AsyncStream<Message> { preconditionFailure() }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@_documentation(visibility: internal)
@available(
    *, unavailable, message: "a main-actor message never waits: leave out 'backlog:'"
)
extension ObserverCenter {
    @_disfavoredOverload
    @discardableResult
    public func observe<
        Message: NotificationCenter.MainActorMessage, each Owner: AnyObject
    >(
        of subject: Any? = nil,
        for identifier: NotificationCenter.BaseMessageIdentifier<Message>,
        owner: repeat each Owner, once: Bool = false, key: (any Hashable)? = nil,
        backlog: BufferingPolicy,
        closure handler: @escaping @isolated(any) (repeat each Owner, Message) async -> Void
    ) -> NotificationObserver { NotificationObserver() }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@_documentation(visibility: internal)
@available(
    *, unavailable,
    message: "'subject:' takes the 'Subject' of the message's type, not optional"
)
extension ObserverCenter {
    @_disfavoredOverload
    public func post<Message: NotificationCenter.MainActorMessage>(
        _ message: Message, subject: Any?
    ) {}
    @_disfavoredOverload
    public func post<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, subject: Any?
    ) {}
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

@_documentation(visibility: internal)
extension NotifyingCenter {
    @available(*, unavailable, renamed: "removeObservers(named:)")
    @_disfavoredOverload
    public func removeObservers(_ name: Notification.Name, from sender: Any? = nil) {}
}

@_documentation(visibility: internal)
extension NotificationObserver {
    @available(*, unavailable, renamed: "cancel()")
    public func invalidate() {}

    @available(*, unavailable, renamed: "cancel()")
    public func dispose() {}

    @available(*, unavailable, renamed: "muted(keepingNewest:_:)")
    public func mute<Result>(
        keepingNewest: Bool = false, closure body: () async throws -> Result
    ) {}

    @available(*, unavailable, renamed: "muted(keepingNewest:_:)")
    public func muted<Result>(
        _ keepingNewest: Bool, closure body: () async throws -> Result
    ) {}
}

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
