public import Foundation

#if canImport(ObjectiveC)
public import ObjectiveC
#endif

// The interface of Foundation's NotificationCenter.

extension ObserverCenter {
    /// Adds a block for a name and a sender, as Foundation's center does.
    ///
    /// Two things differ from Foundation's. The observer ends when the returned token goes, so keep it. And `queue`
    /// never makes the posting thread wait: the block runs there later (D2).
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - object: The sender to observe; `nil` for any. A class instance is matched by identity and not retained; a
    ///     `Hashable` value by equality within its type, where `==` and `hash(into:)` must be pure. Any other value stops
    ///     the program with a sentence, because no post could match it (M4).
    ///   - queue: Where the block runs; `nil` for the posting thread, inside the post.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    ///   - block: What to run.
    /// - Returns: The token, which can be stored as `NSObjectProtocol`.
    public func addObserver(
        forName name: Notification.Name?, object: Any?, queue: OperationQueue?,
        fileID: StaticString = #fileID, line: UInt = #line,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver {
        observe(
            ObservationRequest(
                name: name,
                sender: SenderFilter(any: object, call: "ObserverCenter.addObserver(forName:object:queue:using:)"),
                target: queue.map { DeliveryTarget.operationQueue($0) } ?? .postingThread,
                site: RegistrationSite(file: fileID, line: line)),
            block)
    }

    #if canImport(ObjectiveC)
    /// Adds an object and one of its methods by selector, as Foundation's center does.
    ///
    /// The object is not retained, and the observer ends with it. The method is called on the posting thread, inside the post.
    /// `connect(_:from:to:of:owner:on:once:key:fileID:line:)` takes a method that the compiler checks.
    /// - Parameters:
    ///   - observer: The object whose method is called, an `NSObject`; any other stops the program with a sentence.
    ///   - selector: The method, which takes a notification or nothing.
    ///   - name: The name to observe; `nil` for any.
    ///   - object: The sender to observe; `nil` for any.
    public func addObserver(
        _ observer: Any, selector: Selector, name: Notification.Name?, object: Any?
    ) {
        let call: StaticString = "ObserverCenter.addObserver(_:selector:name:object:)"
        guard let observer = observer as? NSObject else {
            fatalError("\(call): the observer, of \(type(of: observer)), is no NSObject; use connect(_:to:of:).")
        }
        // SAFETY: a selector is the address of a name that stays.
        nonisolated(unsafe) let action = unsafe selector
        _ = observe(
            ObservationRequest(
                name: name, sender: SenderFilter(any: object, call: call), target: .postingThread,
                site: RegistrationSite(file: #fileID, line: #line), call: call),
            for: observer
        ) { observer, notification in
            _ = unsafe observer.perform(action, with: notification)
        }
    }
    #else
    @_documentation(visibility: internal)
    @available(
        *, unavailable, message: "there are no selectors here: 'connect(name, to: Sidebar.changed, of: self)'"
    )
    public func addObserver<Selector>(
        _ observer: Any, selector: Selector, name: Notification.Name?, object: Any?
    ) {}
    #endif

    /// Removes an observer: a token of this center, and all observers attached to an object, which may be a token itself.
    ///
    /// A token of another center, or an object with no observers here, changes nothing (M8).
    /// - Parameter observer: A token, or an object that has observers.
    public func removeObserver(_ observer: Any) {
        removeObserver(observer, name: nil, object: nil)
    }

    /// Removes an observer as far as it was registered for a name and a sender; `nil` for any.
    ///
    /// Complexity: O(observers of the object).
    /// - Parameters:
    ///   - observer: A token, or an object that has observers.
    ///   - name: The name that was given for it; `nil` for whatever name.
    ///   - object: The sender that was given for it; `nil` for whatever sender.
    public func removeObserver(_ observer: Any, name: Notification.Name?, object: Any?) {
        guard case .object(let instance) = Unwrapped(observer) else { return }
        let sender = object.map(Unwrapped.init) ?? .nothing
        let key = SenderKey(sender)
        // A value that no observer can have been registered for.
        if key == nil, case .value = sender { return }
        if let token = instance as? NotificationObserver { core.end(token, named: name, from: key) }
        core.endAll(of: OwnerTable.shared.observers(of: instance), named: name, from: key)
    }

    // MARK: Exact twins
    //
    // A protocol of an app that names Foundation's calls is satisfied by declarations of exactly their types, and a function
    // value has no default arguments. The calls themselves choose the forms above, which know their line and their token.

    /// Adds a block, with Foundation's type: for a protocol, or as a function value.
    @_documentation(visibility: internal)
    @_disfavoredOverload
    public func addObserver(
        forName name: Notification.Name?, object: Any?, queue: OperationQueue?,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
        addObserver(forName: name, object: object, queue: queue, fileID: "", line: 0, using: block)
            as NotificationObserver
    }
}
