public import Foundation

/// A notification center: matches posts to observers by name and sender, and calls the observers.
///
/// ```swift
/// center.observe(.modelDidChange, owner: catalog) {
///     catalog, note in catalog.update(note)
/// }
/// center.post(name: .modelDidChange, object: model)
/// ```
///
/// `ObserverCenter` has the interface of Foundation's `NotificationCenter`, so moving over is a
/// change of type, and [some calls differ](doc:MovingOver). The `observe` methods of
/// ``NotifyingCenter`` come on top, with observers that end by themselves.
///
/// *Delivery*: a post calls, or enqueues on the targets, all matching observers in registration
/// order, each once.
///
/// *Thread safety*: any thread, also inside handlers and in a `deinit`. No lock is held while a
/// handler runs or a user's value is released.
public final class ObserverCenter: NotifyingCenter, CustomStringConvertible {
    /// The process's shared center.
    public static let `default` = ObserverCenter(kind: .shared)

    let core: CenterCore

    /// Makes a separate center.
    public convenience init() { self.init(kind: .separate) }

    private init(kind: CenterCore.Kind) {
        ProgramEnvironment.followOnce()
        OtherCopy.reportOnce()
        core = CenterCore(kind)
        core.setOwnCenter(ObjectIdentifier(self))
    }

    deinit {
        core.setOwnCenter(nil)
        core.closeAtCenterEnd()
    }

    /// The class, and the number of observers.
    public var description: String { "ObserverCenter with \(counted(core.count, "observer"))" }

    // MARK: Posting

    /// Posts a notification.
    ///
    /// Complexity: O(1), plus O(1) for each observer reached, with any number of other observers.
    /// Handlers on `.postingThread` have returned when `post` returns.
    public func post(_ notification: Notification) {
        core.post(
            name: notification.name, hasNoPayload: notification.hasNoPayload,
            sender: { notification.object.flatMap(SenderKey.init(any:)) },
            withNotification: { $0(notification) })
    }

    /// Makes a notification and posts it. A class instance as `object` matches by identity; a
    /// `Hashable` value by equality within its type.
    public func post(name: Notification.Name, object: Any? = nil) {
        post(name: name, object: object, userInfo: nil)
    }

    /// Makes a notification with further values, and posts it.
    @inline(__always)
    public func post(name: Notification.Name, object: Any? = nil, userInfo: [AnyHashable: Any]?) {
        core.post(
            name: name, hasNoPayload: object == nil && userInfo == nil,
            sender: { object.flatMap(SenderKey.init(any:)) },
            withNotification: { $0(Notification(name: name, object: object, userInfo: userInfo)) })
    }

    /// Whether a post of a name would reach an observer, so that a program makes a costly payload
    /// only for observers.
    ///
    /// ```swift
    /// if center.hasObservers(named: .modelDidChange, from: model) {
    ///     let payload = ["rows": Array(rows)]
    ///     center.post(name: .modelDidChange, object: model, userInfo: payload)
    /// }
    /// ```
    ///
    /// Observers of any name count, and without a `sender` those of every sender. So do muted
    /// observers, and those that end after their pending deliveries. Complexity: O(1), and no
    /// allocation for an object.
    public func hasObservers(
        named name: Notification.Name, from sender: AnyObject = Omitted.argument
    ) -> Bool {
        core.hasObservers(of: name, from: SenderKey(given: sender))
    }

    /// Registers a closure, called on the posting thread, inside the post. Prefer the `observe`
    /// methods.
    public func register(
        name: Notification.Name?, sender: AnyObject?,
        handler: @escaping @Sendable (Notification) -> Void
    ) -> any NotifyingRegistration {
        let site = CallSite.unknown(call: "ObserverCenter.register(name:sender:handler:)")
        return register(name: name, sender: sender, at: site, handler)
    }

    func register(
        name: Notification.Name?, sender: AnyObject?, at site: CallSite,
        _ handler: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver {
        let sender = sender.map { SenderFilter.given($0, at: site) } ?? .any
        return observe(
            ObservationRequest(name: name, sender: sender, target: .postingThread, site: site),
            handler)
    }
}

// MARK: What every center has

extension NotifyingCenter {
    /// The center's core, if the center is an `ObserverCenter`.
    @inline(__always)
    var ownCore: CenterCore? {
        // SAFETY: the class is final, so comparing the type is enough.
        type(of: self) == ObserverCenter.self
            ? unsafe unsafeDowncast(self, to: ObserverCenter.self).core : nil
    }

    /// The center's core, or the core beside a foreign center with observers.
    var knownCore: CenterCore? { ownCore ?? ForeignCenters.shared.knownCore(of: self) }

    /// The center's observers, in registration order.
    public func audit() -> Audit {
        guard let core = knownCore else { return Audit([]) }
        return Audit(core.registrations(), ledgers: [core.ledger])
    }

    /// Ends every observer that matches all arguments, observers with a block included.
    ///
    /// ```swift
    /// center.removeObservers(named: .modelDidChange)  // of that name
    /// center.removeObservers(from: model)             // of that sender
    /// center.removeObservers(named: .modelDidChange, owner: self)
    /// ```
    ///
    /// An observer of any name or any sender does not match a given name or sender.
    /// Complexity: O(observers of the owner, on all centers, if one is given; otherwise of the
    /// narrower of sender and name).
    public func removeObservers(
        named name: Notification.Name, from sender: AnyObject = Omitted.argument,
        owner: AnyObject = Omitted.argument
    ) {
        removeObservers(name, sender, owner)
    }

    /// Ends every observer of a sender, with any name.
    public func removeObservers(
        from sender: AnyObject, owner: AnyObject = Omitted.argument
    ) {
        removeObservers(nil, sender, owner)
    }

    /// Ends every observer of an owner on the center, with any name and sender.
    public func removeObservers(owner: AnyObject) {
        removeObservers(nil, Omitted.argument, owner)
    }

    /// Ends every observer of the center. On a foreign center, only observers registered with
    /// Tether end.
    public func removeAllObservers() { knownCore?.endAll() }

    private func removeObservers(
        _ name: Notification.Name?, _ sender: AnyObject, _ owner: AnyObject
    ) {
        guard let core = knownCore else { return }
        let key = SenderKey(given: sender)
        if Omitted.stands(for: owner) { return core.endAll(named: name, from: key) }
        core.endAll(of: owner, named: name, from: key)
    }
}

extension CenterCore {
    /// Ends the owner's observers that are on the center and match the name and the sender.
    func endAll(of owner: AnyObject, named name: Notification.Name?, from sender: SenderKey?) {
        for observer in ObjectTable.shared.observers(of: owner) {
            end(observer, named: name, from: sender)
        }
    }

    func end(
        _ observer: NotificationObserver, named name: Notification.Name?, from sender: SenderKey?
    ) {
        guard let registration = observer.live, registration.center === self else { return }
        if name != nil || sender != nil {
            guard let subject = subject(of: registration),
                name == nil || subject.name == name, sender == nil || subject.sender == sender
            else { return }
        }
        registration.end()
    }
}
