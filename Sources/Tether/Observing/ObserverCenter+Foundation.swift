public import Foundation

#if canImport(ObjectiveC)
public import ObjectiveC
#endif

extension ObserverCenter {
    /// Adds a block for a name and a sender, as Foundation's center does.
    ///
    /// Two things differ from Foundation. The observer ends when the returned token is released, so
    /// keep the token. And the posting thread never waits for `queue`: the block runs later, or
    /// inline on the main queue. A class instance as `object` is matched by identity and not
    /// retained. A `Hashable` value is matched by equality within its type, with pure `==` and
    /// `hash(into:)`. Any other value stops the program with a sentence. Without a `queue` the
    /// block runs on the posting thread, inside the post.
    public func addObserver(
        forName name: Notification.Name?, object: Any?, queue: OperationQueue?,
        fileID: StaticString = #fileID, line: UInt = #line,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver {
        let site = CallSite(
            fileID, line, call: "ObserverCenter.addObserver(forName:object:queue:using:)")
        return observe(
            ObservationRequest(
                name: name, sender: SenderFilter(any: object, at: site),
                target: queue.map { DeliveryTarget.operationQueue($0) } ?? .postingThread,
                site: site),
            block)
    }

    #if canImport(ObjectiveC)
    /// Adds an object and one of its methods by selector, as Foundation's center does.
    ///
    /// The object is not retained, and the observer ends with the object. The method runs on the
    /// posting thread, inside the post. It may be any class's method that is marked `@objc`. An
    /// `observer` that is no object stops the program with a sentence.
    public func addObserver(
        _ observer: Any, selector: Selector, name: Notification.Name?, object: Any?
    ) {
        let site = CallSite.unknown(
            call: "ObserverCenter.addObserver(_:selector:name:object:)")
        guard case .object(let observer) = Unwrapped(observer) else {
            site.refuse(
                "the observer, of \(type(of: observer)), is no object; use connect(_:to:of:).")
        }
        // SAFETY: a selector is the address of a name that the Objective-C runtime keeps.
        nonisolated(unsafe) let action = unsafe selector
        _ = observe(
            ObservationRequest(
                name: name, sender: SenderFilter(any: object, at: site), target: .postingThread,
                site: site),
            for: observer
        ) { observer, notification in
            unsafe ObserverCenter.send(action, to: observer, with: notification)
        }
    }

    /// Calls the method of a selector, as the compiler calls an `@objc` method.
    private static func send(
        _ selector: Selector, to observer: AnyObject, with notification: Notification
    ) {
        guard let type = object_getClass(observer),
            let method = unsafe class_getMethodImplementation(type, selector)
        else {
            return
        }
        typealias Method =
            @convention(c) (UnsafeMutableRawPointer, Selector, UnsafeMutableRawPointer) -> Void
        let argument = notification._bridgeToObjectiveC()
        // SAFETY: the method takes a notification, which the user promises, and both objects are
        // retained for the call.
        unsafe unsafeBitCast(method, to: Method.self)(
            Unmanaged.passUnretained(observer).toOpaque(), selector,
            Unmanaged.passUnretained(argument).toOpaque())
        withExtendedLifetime((observer, argument)) {}
    }
    #endif

    /// Removes the observer of a token of the center, and all observers attached to an object,
    /// which may be a token.
    public func removeObserver(_ observer: Any) { removeObserver(observer, name: nil, object: nil) }

    /// Removes the observers of a token or an object that were registered for a name and a sender;
    /// `nil` for every one.
    public func removeObserver(_ observer: Any, name: Notification.Name?, object: Any?) {
        guard case .object(let instance) = Unwrapped(observer) else { return }
        let sender = object.map(Unwrapped.init) ?? .nothing
        let key: SenderKey?
        switch sender {
        case .nothing: key = nil
        case .object(let object): key = SenderKey(given: object)
        case .value:
            key = SenderKey(sender)
            // No observer can have been registered for such a value.
            if key == nil { return }
        }
        if let token = instance as? NotificationObserver { core.end(token, named: name, from: key) }
        core.endAll(of: instance, named: name, from: key)
    }

    // MARK: Exact twins
    //
    // An app's protocol with Foundation's calls requires declarations of exactly Foundation's
    // types, and a function value has no default arguments. Direct calls choose the forms above,
    // which know their line and their token.

    @_documentation(visibility: internal)
    @_disfavoredOverload
    public func addObserver(
        forName name: Notification.Name?, object: Any?, queue: OperationQueue?,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
        addObserver(
            forName: name, object: object, queue: queue, fileID: CallSite.unknownFile,
            line: 0, using: block)
            as NotificationObserver
    }
}
