public import Foundation

/// A notification center: it matches posts to observers by name and sender, and calls them.
///
/// ```swift
/// center.observe(.modelDidChange, owner: catalog) {
///     catalog, note in catalog.update(note)
/// }
/// center.post(name: .modelDidChange, object: model)
/// ```
///
/// It has the interface of Foundation's `NotificationCenter`, so moving over is a change of type, and on top of it the
/// `observe` methods of ``NotifyingCenter``, whose observers end by themselves.
///
/// *Delivery*: a post calls, or enqueues on their targets, all matching observers in registration order, each once
/// (M1-M3). An observer that an earlier handler of the same post removed is not
/// called; one added during a post is first called by the next (R4).
///
/// *Thread safety*: everything may be called from any thread, also from inside handlers and from a `deinit`. No lock is
/// held while a handler runs or a value of yours is released (R5, R6).
public final class ObserverCenter: NotifyingCenter, CustomStringConvertible {
    /// The process's shared center.
    public static let `default` = ObserverCenter(usesExactLifetimes: true, face: .shared)

    let core: CenterCore

    /// Makes a center of its own.
    public convenience init() {
        self.init(usesExactLifetimes: true)
    }

    /// A center whose owners' and senders' ends are left to the sweep, for tests of it.
    init(usesExactLifetimes: Bool, face: CenterCore.Face = .own) {
        ProgramEnvironment.isFollowed
        core = CenterCore(usesExactLifetimes: usesExactLifetimes, face: face)
        core.setOwnCenter(ObjectIdentifier(self))
    }

    deinit {
        core.setOwnCenter(nil)
        Events.centerEnds(core) { core.close() }
    }

    /// The number of observers.
    public var description: String { "ObserverCenter with \(core.count) observers" }

    // MARK: Posting

    /// Posts a notification.
    ///
    /// Complexity: O(1), plus O(1) for each observer that is reached, whatever else is registered. Observers on
    /// `.postingThread` have returned when this returns.
    /// - Parameter notification: The notification. Its name and its object are what observers are matched by.
    public func post(_ notification: Notification) {
        core.post(
            name: notification.name, isBare: notification.isBare,
            sender: { notification.object.flatMap(SenderKey.init(any:)) }, notify: { $0(notification) })
    }

    /// Makes a notification and posts it.
    ///
    /// A class instance as `object` matches by identity; a `Hashable` value by equality within its type (M4).
    /// - Parameters:
    ///   - name: The name.
    ///   - object: The object that the post speaks for; `nil` for none.
    public func post(name: Notification.Name, object: Any? = nil) {
        core.post(
            name: name, isBare: object == nil, sender: { object.flatMap(SenderKey.init(any:)) },
            notify: { $0(Notification(name: name, object: object)) })
    }

    /// Makes a notification with further values, and posts it.
    /// - Parameters:
    ///   - name: The name.
    ///   - object: The object that the post speaks for; `nil` for none.
    ///   - userInfo: The values that go with the notification; `nil` for none.
    public func post(name: Notification.Name, object: Any? = nil, userInfo: [AnyHashable: Any]?) {
        core.post(
            name: name, isBare: object == nil && userInfo == nil, sender: { object.flatMap(SenderKey.init(any:)) },
            notify: { $0(Notification(name: name, object: object, userInfo: userInfo)) })
    }

    /// Whether a post of a name would reach an observer, so that a costly payload need not be made for nobody.
    ///
    /// ```swift
    /// if center.hasObservers(of: .modelDidChange, from: model) {
    ///     center.post(name: .modelDidChange, object: model, userInfo: ["rows": Array(rows)])
    /// }
    /// ```
    ///
    /// Observers of any name count. Complexity: O(1), without an allocation. Any thread.
    /// - Parameters:
    ///   - name: The name.
    ///   - sender: The sender of the post. Leave it out to ask for observers of whatever sender.
    public func hasObservers<Sender: AnyObject>(
        of name: Notification.Name, from sender: Sender = Omitted.argument
    ) -> Bool {
        core.hasObservers(of: name, from: Omitted.stands(for: sender) ? nil : SenderKey(sender))
    }

    // MARK: NotifyingCenter

    /// Registers a handler of any sender's posts, without an owner or a key, on the posting thread.
    func observeAtOnce(
        _ name: Notification.Name?, flags: UInt32, site: RegistrationSite,
        _ handler: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver {
        let observer = NotificationObserver()
        // SAFETY: the core takes the reference over, and gives it back to who ends the registration.
        let registration = unsafe Unmanaged<Registration>.passRetained(
            PlainRegistration(center: core, flags: flags, site: site, handler: handler))
        unsafe registration._withUnsafeGuaranteedRef {
            observer.set($0)
            Events.registered($0, name: name, by: observer)
        }
        unsafe core.add(registration, name: name)
        return observer
    }

    /// The same, with an owner.
    func observeAtOnce<Owner: AnyObject>(
        _ name: Notification.Name?, owner: Owner, flags: UInt32, site: RegistrationSite,
        _ handler: @escaping OwnedRegistration.Handler<Owner>
    ) -> NotificationObserver {
        let observer = NotificationObserver()
        // SAFETY: as above.
        let registration = unsafe Unmanaged.passRetained(
            OwnedRegistration(center: core, details: nil, flags: flags, site: site, handler: handler))
        let isAttached = unsafe registration._withUnsafeGuaranteedRef {
            observer.set($0)
            let isAttached = OwnerTable.shared.attach(observer, to: owner, as: $0, exactly: core.usesExactLifetimes)
            if isAttached { Events.registered($0, name: name, by: observer) }
            return isAttached
        }
        if isAttached {
            unsafe core.add(.fromOpaque(registration.toOpaque()), name: name)
        } else {
            unsafe registration.takeRetainedValue().end()
        }
        return observer
    }

    /// Registers a closure; the `observe` methods are the better way.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained; `nil` for any.
    ///   - handler: What to run, on the posting thread, inside the post.
    public func register(
        name: Notification.Name?, sender: AnyObject?, handler: @escaping @Sendable (Notification) -> Void
    ) -> any NotifyingRegistration {
        let sender = sender.map { SenderFilter.given($0, call: "ObserverCenter.register(name:sender:handler:)") }
        return OwnRegistration(
            observer: observe(
                ObservationRequest(
                    name: name, sender: sender ?? .any, target: .postingThread,
                    site: RegistrationSite(file: #fileID, line: #line)),
                handler))
    }
}

private struct OwnRegistration: NotifyingRegistration {
    let observer: NotificationObserver

    func cancel() { observer.cancel() }
}

// MARK: What every center has

extension NotifyingCenter {
    /// This center's core, if it is Tether's own: `ObserverCenter` is final, so a look at the type will do.
    @inline(__always)
    var ownCore: CenterCore? { isOwn ? unsafe unsafeDowncast(self, to: ObserverCenter.self).core : nil }

    @inline(__always)
    var isOwn: Bool { type(of: self) == ObserverCenter.self }

    /// This center's core, or the one that stands beside it, if it has observers.
    var knownCore: CenterCore? { ownCore ?? ForeignCenters.shared.knownCore(of: self) }
}

extension NotifyingCenter {
    /// This center's observers, in registration order (L1).
    public func audit() -> Audit {
        let core = knownCore
        return Audit(core?.registrations() ?? [], ledgers: core.map { [$0.ledger] } ?? [])
    }
}

extension NotifyingCenter {
    /// Ends every observer of a name that matches all arguments, blocks included (R9).
    ///
    /// ```swift
    /// center.removeObservers(named: .modelDidChange)  // of that name
    /// center.removeObservers(from: model)             // of that sender
    /// center.removeObservers(named: .modelDidChange, owner: self)
    /// ```
    ///
    /// An observer of any name, or of any sender, is not one *of* a name or sender.
    /// Complexity: O(observers of the narrower of owner and sender, or of the name).
    /// - Parameters:
    ///   - name: The name that they were registered for.
    ///   - sender: The sender that they were registered for; leave it out for all senders.
    ///   - owner: The owner that they are attached to; leave it out for all owners, and for those without one.
    public func removeObservers<Sender: AnyObject, Owner: AnyObject>(
        named name: Notification.Name, from sender: Sender = Omitted.argument, owner: Owner = Omitted.argument
    ) {
        removeObservers(name, sender, owner)
    }

    /// Ends every observer of a sender, whatever its name (R9).
    /// - Parameters:
    ///   - sender: The sender that they were registered for.
    ///   - owner: The owner that they are attached to; leave it out for all owners, and for those without one.
    public func removeObservers<Sender: AnyObject, Owner: AnyObject>(
        from sender: Sender, owner: Owner = Omitted.argument
    ) {
        removeObservers(nil, sender, owner)
    }

    /// Ends every observer of an owner on this center, whatever its name and sender (R9).
    /// - Parameter owner: The owner that they are attached to.
    public func removeObservers<Owner: AnyObject>(owner: Owner) { removeObservers(nil, Omitted.argument, owner) }

    /// Ends every observer of this center; over another's center, those that were registered with Tether (R9).
    public func removeAllObservers() { knownCore?.endAll() }

    private func removeObservers(_ name: Notification.Name?, _ sender: AnyObject, _ owner: AnyObject) {
        guard let core = knownCore else { return }
        let key = Omitted.stands(for: sender) ? nil : SenderKey(sender)
        if Omitted.stands(for: owner) { return core.endAll(named: name, from: key) }
        core.endAll(of: OwnerTable.shared.observers(of: owner), named: name, from: key)
    }
}

extension CenterCore {
    /// Ends the registrations of some observers, as far as they are this center's and match what is given.
    func endAll(of observers: [NotificationObserver], named name: Notification.Name?, from sender: SenderKey?) {
        for observer in observers { end(observer, named: name, from: sender) }
    }

    /// Ends the registration of an observer, if it is this center's and matches what is given.
    func end(_ observer: NotificationObserver, named name: Notification.Name?, from sender: SenderKey?) {
        guard let registration = observer.live, registration.center === self else { return }
        if name != nil || sender != nil {
            guard let subject = subject(of: registration),
                name == nil || subject.name == name, sender == nil || subject.sender == sender
            else { return }
        }
        registration.end()
    }
}
